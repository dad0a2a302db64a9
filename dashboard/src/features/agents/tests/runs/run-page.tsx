import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { isMissing, NotFound, PageFailure, PagePending } from "../../../../app/failures.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Page } from "../../../../ui/page.tsx";
import { isOpen, type Run, runQuery } from "../queries.ts";
import { CancelRun } from "./cancel-run.tsx";
import { PublishRun } from "./publish-run.tsx";
import { ResultCard } from "./result-card.tsx";
import { RunFacts } from "./run-facts.tsx";
import { RunHeading } from "./run-heading.tsx";
import { useRunEvents } from "./use-run-events.ts";

/** A run of an agent's tests, live until it has ended. */
export function RunPage() {
  const { agentId, runId } = useParams({ from: "/signed-in/agents/$agentId/runs/$runId" });
  const run = useQuery(runQuery(agentId, runId));
  if (run.isPending) return <PagePending />;
  if (isMissing(run.error)) return <NotFound what="run" of="agent" all="/agents" />;
  if (run.isLoadingError) return <PageFailure error={run.error} reset={() => run.refetch()} />;
  return <Shown key={runId} run={run.data} />;
}

function Shown({ run }: { run: Run }) {
  useRunEvents(run);
  const { agent_id: agentId, agent_version, results } = run;
  return (
    <Page
      title={`Tests of version ${agent_version}`}
      heading={<RunHeading run={run} title={`Tests of version ${agent_version}`} view="runs" />}
      actions={
        isOpen(run) ? (
          <CancelRun agentId={agentId} runId={run.run_id} what="run" />
        ) : (
          <>
            <Button asChild>
              <Link
                to="/agents/$agentId"
                params={{ agentId }}
                search={{
                  tab: "tests",
                  run: results.length === 1 ? results[0]?.test_id : "all",
                  version: agent_version,
                }}
              >
                <RotateCw aria-hidden /> Run again
              </Link>
            </Button>
            <PublishRun run={run} />
          </>
        )
      }
    >
      <RunFacts run={run} />
      <ol aria-label="Results" className="flex flex-col gap-4">
        {results.map((result) => (
          <li key={result.test_id}>
            <ResultCard run={run} result={result} isOnly={results.length === 1} />
          </li>
        ))}
      </ol>
    </Page>
  );
}
