import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { dollarsOf } from "../../../../ui/numbers.ts";
import { EmptyState, ErrorState, LoadingRows } from "../../../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK, Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { isOpen, type ListedRun, runsQuery } from "../queries.ts";
import { RunStatusBadge } from "./status.tsx";

/** The runs that are kept, newest first. */
export function RunsList({ agentId }: { agentId: string }) {
  const runs = useQuery(runsQuery(agentId));
  if (runs.isLoadingError) return <ErrorState error={runs.error} onRetry={runs.refetch} />;
  if (!runs.data) return <LoadingRows rows={4} />;
  if (runs.data.length === 0)
    return (
      <EmptyState icon={FlaskConical} title="No runs yet">
        A run holds the conversations of tests with a version of the agent. The newest 50 are kept for 30 days.
      </EmptyState>
    );
  return <Table label="Runs" rows={runs.data} rowKey={({ run_id }) => run_id} columns={COLUMNS} />;
}

const COLUMNS: readonly Column<ListedRun>[] = [
  {
    name: "Tests",
    className: "max-w-0 w-full min-w-32",
    cell: ({ agent_id, run_id, results }) => (
      <Link
        to="/agents/$agentId/runs/$runId"
        params={{ agentId: agent_id, runId: run_id }}
        className={`${ROW_LINK} block truncate`}
      >
        {results.length === 1 ? results[0]?.name : `${results.length} tests`}
      </Link>
    ),
  },
  { name: "Version", ...FIGURES, cell: ({ agent_version }) => agent_version },
  { name: "Result", cell: (run) => <RunResultBadge run={run} /> },
  { name: "Cost", wide: true, ...FIGURES, cell: ({ cost_usd }) => dollarsOf(cost_usd * 1e6) },
  { name: "Began", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
];

function RunResultBadge({ run }: { run: ListedRun }) {
  const passed = run.results.filter((result) => result.passed).length;
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <RunStatusBadge status={run.status} />
      {!isOpen(run) && run.results.length > 1 && (
        <span className="text-xs text-muted tabular-nums max-sm:hidden">
          {passed} of {run.results.length} passed
        </span>
      )}
    </span>
  );
}
