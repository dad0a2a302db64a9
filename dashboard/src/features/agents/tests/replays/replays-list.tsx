import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import { dollarsOf } from "../../../../ui/numbers.ts";
import { EmptyState, ErrorState, LoadingRows } from "../../../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { isOpen, type ListedReplay, replaysQuery } from "../queries.ts";
import { RunStatusBadge } from "../runs/status.tsx";

/** The replays that are kept, newest first. */
export function ReplaysList({ agentId }: { agentId: string }) {
  const replays = useQuery(replaysQuery(agentId));
  if (replays.isLoadingError) return <ErrorState error={replays.error} onRetry={replays.refetch} />;
  if (!replays.data) return <LoadingRows rows={4} />;
  if (replays.data.length === 0)
    return (
      <EmptyState icon={History} title="No replays yet">
        A replay holds stored conversations again with another version of the agent, and shows what differs.
      </EmptyState>
    );
  return <Table label="Replays" rows={replays.data} rowKey={({ replay_id }) => replay_id} columns={COLUMNS} />;
}

const COLUMNS: readonly Column<ListedReplay>[] = [
  {
    name: "Conversations",
    className: "w-full min-w-32",
    cell: ({ agent_id, replay_id, conversations: { total } }) => (
      <Link
        to="/agents/$agentId/replays/$replayId"
        params={{ agentId: agent_id, replayId: replay_id }}
        className={ROW_LINK}
      >
        {total === 1 ? "1 conversation" : `${total} conversations`}
      </Link>
    ),
  },
  { name: "Version", ...FIGURES, cell: ({ agent_version }) => agent_version },
  {
    name: "Result",
    cell: ({ status, ended_at, conversations: { total, differing } }) => (
      <span className="inline-flex items-center gap-2 whitespace-nowrap">
        <RunStatusBadge status={status} isReplay />
        {!isOpen({ ended_at }) && total > 1 && status === "FAILED" && (
          <span className="text-xs text-muted tabular-nums max-sm:hidden">
            {differing} of {total} differ
          </span>
        )}
      </span>
    ),
  },
  { name: "Cost", wide: true, ...FIGURES, cell: ({ cost_usd }) => dollarsOf(cost_usd * 1e6) },
  { name: "Began", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
];
