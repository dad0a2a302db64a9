import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { MessagesSquare, SearchX } from "lucide-react";
import { useCallback, useMemo } from "react";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { PastEnd } from "../../ui/listed.tsx";
import { durationOf, numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { Pagination } from "../../ui/pagination.tsx";
import { afterPaint } from "../../ui/painted.ts";
import { EmptyState, ErrorState, LoadingRows } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type AgentNames, agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { FilterBar } from "./filter-bar.tsx";
import { type Filters, isFiltered } from "./filters.ts";
import { ChannelLabel, isTest, StatusBadge } from "./names.tsx";
import { openingOf } from "./opening.ts";
import { type Conversation, conversationsQuery, PAGE_SIZE } from "./queries.ts";

export function ConversationsPage() {
  const filters = useSearch({ from: "/signed-in/conversations" });
  const navigate = useNavigate({ from: "/conversations" });
  const found = useQuery(conversationsQuery(filters));
  const names = useQuery(agentNamesQuery).data;
  const change = useCallback((next: Filters) => navigate({ search: next, replace: true }), [navigate]);
  const columns = useMemo(() => columnsOf(names), [names]);
  const page = filters.page ?? 1;
  return (
    <Page title="Conversations" description="What people and your agents say, on every channel, as it happens.">
      <FilterBar filters={filters} onChange={change} />
      {found.isPending ? (
        <LoadingRows rows={8} />
      ) : found.isLoadingError ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : found.data.total > 0 && found.data.conversations.length === 0 ? (
        <PastEnd onFirst={() => change({ ...filters, page: 1 })} />
      ) : found.data.conversations.length === 0 ? (
        <Nothing filters={filters} onClear={() => void afterPaint(() => change({}))} />
      ) : (
        <div
          className={`flex flex-col gap-4 motion-safe:transition-opacity ${found.isPlaceholderData ? "opacity-60" : ""}`}
          aria-busy={found.isPlaceholderData}
        >
          <Table
            label="Conversations"
            columns={columns}
            rows={found.data.conversations}
            rowKey={({ conversation_id }) => conversation_id}
          />
          <Pagination
            page={page}
            pageSize={PAGE_SIZE}
            total={found.data.total}
            onPage={(next) => navigate({ search: { ...filters, page: next } })}
          />
          {found.data.total <= PAGE_SIZE && <Total total={found.data.total} />}
        </div>
      )}
    </Page>
  );
}

function Total({ total }: { total: number }) {
  return (
    <p className="text-muted">
      {numberOf(total)} {total === 1 ? "conversation" : "conversations"}
    </p>
  );
}

function Nothing({ filters, onClear }: { filters: Filters; onClear: () => void }) {
  if (isFiltered(filters))
    return (
      <EmptyState
        icon={SearchX}
        title="No matching conversations"
        action={<Button onClick={onClear}>Clear filters</Button>}
      >
        Remove a filter, or try a different search.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={MessagesSquare}
      title="No conversations yet"
      action={
        <Button asChild variant="primary">
          <Link to="/agents">Go to agents</Link>
        </Button>
      }
    >
      Talk to one of your agents. Chats and calls appear here as they happen.
    </EmptyState>
  );
}

function columnsOf(names: AgentNames | undefined): readonly Column<Conversation>[] {
  const agentOf = ({ agent_id }: Conversation) => nameOfAgent(names, agent_id);
  return [
    {
      name: "Conversation",
      className: "max-w-0 w-full min-w-44",
      cell: (conversation) => (
        <>
          <span className="flex items-center gap-2">
            <Link
              to="/conversations/$conversationId"
              params={{ conversationId: conversation.conversation_id }}
              className={`${ROW_LINK} block truncate`}
            >
              {openingOf(conversation)}
            </Link>
            {isTest(conversation) && <Badge>Test</Badge>}
          </span>
          <span className="block truncate text-xs text-muted lg:hidden">
            {agentOf(conversation)}
            <span className="md:hidden">
              {" "}
              · <Time at={conversation.created_at} relative />
            </span>
          </span>
        </>
      ),
    },
    {
      name: "Agent",
      wide: "very",
      className: "max-w-48 truncate text-muted",
      cell: agentOf,
    },
    { name: "Status", cell: ({ conversation_status }) => <StatusBadge status={conversation_status} /> },
    { name: "Channel", wide: true, cell: ({ conversation_type }) => <ChannelLabel channel={conversation_type} /> },
    {
      name: "Messages",
      wide: true,
      ...FIGURES,
      cell: ({ conversation_transcript }) => numberOf(conversation_transcript?.length ?? 0),
    },
    {
      name: "Duration",
      wide: true,
      ...FIGURES,
      cell: ({ duration }) => (duration === undefined ? "–" : durationOf(duration)),
    },
    {
      name: "Started",
      ...MOMENT,
      cell: ({ created_at }) => <Time at={created_at} relative />,
    },
  ];
}
