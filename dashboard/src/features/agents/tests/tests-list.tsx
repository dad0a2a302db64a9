import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../../ui/states.tsx";
import { type Column, MOMENT, ROW_LINK, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { type LastResult, lastResultsOf } from "./last-results.ts";
import { runsQuery, type Test, testsQuery } from "./queries.ts";
import { RunStatusBadge } from "./runs/status.tsx";

/** The tests of an agent with how each ended last. @param make the button that makes one */
export function TestsList({ agentId, make }: { agentId: string; make: ReactNode }) {
  const tests = useQuery(testsQuery(agentId));
  const runs = useQuery(runsQuery(agentId)).data;
  const columns = useMemo(() => columnsWith(runs && lastResultsOf(runs)), [runs]);
  if (tests.isLoadingError) return <ErrorState error={tests.error} onRetry={tests.refetch} />;
  if (!tests.data) return <LoadingRows rows={4} />;
  if (tests.data.length === 0)
    return (
      <EmptyState icon={FlaskConical} title="Write the first test" action={make}>
        A test talks with the agent as a user would, and checks what the agent says and does. You can also make one of a
        stored conversation, on its page.
      </EmptyState>
    );
  return <Table label="Tests" rows={tests.data} rowKey={({ test_id }) => test_id} columns={columns} />;
}

function columnsWith(last: ReadonlyMap<string, LastResult> | undefined): readonly Column<Test>[] {
  return [
    {
      name: "Name",
      className: "max-w-0 w-full min-w-32",
      cell: ({ agent_id, test_id, name, required }) => (
        <span className="flex items-center gap-2">
          <Link
            to="/agents/$agentId/tests/$testId"
            params={{ agentId: agent_id, testId: test_id }}
            className={`${ROW_LINK} truncate`}
          >
            {name}
          </Link>
          {required && <Badge>Required</Badge>}
        </span>
      ),
    },
    {
      name: "User",
      wide: true,
      className: "text-muted whitespace-nowrap",
      cell: ({ kind, messages }) =>
        kind === "scripted" ? `${messages.length} ${messages.length === 1 ? "message" : "messages"}` : "A model",
    },
    {
      name: "Channel",
      wide: true,
      className: "text-muted",
      cell: ({ channel }) => (channel === "text" ? "Chat" : "Call"),
    },
    {
      name: "Last result",
      cell: ({ agent_id, test_id }) => {
        const result = last?.get(test_id);
        if (!result) return <span className="whitespace-nowrap text-muted">{last ? "Never run" : "…"}</span>;
        return (
          <Link
            to="/agents/$agentId/runs/$runId"
            params={{ agentId: agent_id, runId: result.runId }}
            className="relative inline-flex items-center gap-2 whitespace-nowrap hover:underline"
          >
            <RunStatusBadge status={result.status} />
            <span className="text-xs text-muted max-sm:hidden">version {result.agentVersion}</span>
          </Link>
        );
      },
    },
    {
      name: "When",
      ...MOMENT,
      cell: ({ test_id }) => {
        const at = last?.get(test_id)?.at;
        return at ? <Time at={at} relative /> : "–";
      },
    },
  ];
}
