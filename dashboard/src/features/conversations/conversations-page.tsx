import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { MessagesSquare, SearchX } from "lucide-react";
import { useCallback, useMemo } from "react";
import { Button } from "../../ui/button.tsx";
import { Listed } from "../../ui/listed.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { afterPaint } from "../../ui/painted.ts";
import { EmptyState } from "../../ui/states.tsx";
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
      <Listed
        query={found}
        rows={found.data?.conversations}
        page={filters.page}
        pageSize={PAGE_SIZE}
        onPage={(next) => navigate({ search: { ...filters, page: next } })}
        label="Conversations"
        columns={columns}
        rowKey={({ conversation_id }) => conversation_id}
        empty={<Nothing filters={filters} onClear={() => void afterPaint(() => change({}))} />}
      />
      {found.data && found.data.total > 0 && found.data.total <= PAGE_SIZE && <Total total={found.data.total} />}
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
