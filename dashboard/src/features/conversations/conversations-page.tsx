import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { MessagesSquare, SearchX } from "lucide-react";
import { useCallback, useMemo } from "react";
import { Button } from "../../ui/button.tsx";
import { PastEnd } from "../../ui/listed.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { Pagination } from "../../ui/pagination.tsx";
import { afterPaint } from "../../ui/painted.ts";
import { EmptyState, ErrorState, LoadingRows } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { agentNamesQuery } from "../agents/agents.ts";
import { FilterBar } from "./filter-bar.tsx";
import { type Filters, isFiltered } from "./filters.ts";
import { ColumnChoice, useChosenColumns } from "./list/column-choice.tsx";
import { columnsOf } from "./list/columns.tsx";
import { ExportButton } from "./list/export-button.tsx";
import { useLiveLists } from "./live/use-live.ts";
import { conversationsQuery, isNewest, PAGE_SIZE } from "./queries.ts";

export function ConversationsPage() {
  const filters = useSearch({ from: "/signed-in/conversations" });
  const navigate = useNavigate({ from: "/conversations" });
  useLiveLists(isNewest(filters));
  const found = useQuery(conversationsQuery(filters));
  const names = useQuery(agentNamesQuery).data;
  const change = useCallback((next: Filters) => navigate({ search: next, replace: true }), [navigate]);
  const [chosen, choose] = useChosenColumns();
  const { search } = filters;
  const columns = useMemo(() => columnsOf(names, chosen, search), [names, chosen, search]);
  const page = filters.page ?? 1;
  return (
    <Page
      title="Conversations"
      description="What people and your agents say, on every channel, as it happens."
      actions={
        found.data &&
        found.data.total > 0 && (
          <>
            <ColumnChoice chosen={chosen} onChange={choose} />
            <ExportButton filters={filters} names={names} />
          </>
        )
      }
    >
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
