import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { Badge } from "../../../../ui/badge.tsx";
import { ErrorState, Skeleton } from "../../../../ui/states.tsx";
import { type Run, type RunResult, runResultQuery } from "../queries.ts";
import { AttemptView } from "./attempt-view.tsx";
import { RunStatusBadge } from "./status.tsx";

/** A test of a run: how it ended, and when opened, the conversations that were held for it. */
export function ResultCard({ run, result, isOnly }: { run: Run; result: RunResult; isOnly: boolean }) {
  const { test_id, name, required, status, passed, passes, pass_at_least, attempts } = result;
  // What failed is what someone wants to see.
  const [toggled, setToggled] = useState<boolean | null>(null);
  const isOpen = toggled ?? (isOnly || status === "FAILED" || status === "ERROR");
  const id = useId();
  return (
    <section aria-label={name} className="overflow-hidden rounded-xl border border-line bg-raised">
      <h2>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          className="flex w-full min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-3 text-left outline-offset-[-2px] hover:bg-hover"
          onClick={() => setToggled(!isOpen)}
        >
          <ChevronRight
            className={`size-4 shrink-0 text-muted transition-transform motion-reduce:transition-none ${isOpen ? "rotate-90" : ""}`}
            aria-hidden
          />
          <span dir="auto" className="min-w-0 flex-1 basis-32 font-semibold wrap-anywhere">
            {name}
          </span>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {required && <Badge>Required</Badge>}
            {attempts.length > 1 && (
              <span className="text-muted tabular-nums">
                {passes} of {attempts.length} passed
                {passed !== true && pass_at_least < attempts.length && `, ${pass_at_least} needed`}
              </span>
            )}
            <RunStatusBadge status={status} />
          </span>
        </button>
      </h2>
      {isOpen && (
        <div id={id} className="flex flex-col gap-6 border-t border-line p-4">
          <Attempts run={run} result={result} />
          <Link
            to="/agents/$agentId/tests/$testId"
            params={{ agentId: run.agent_id, testId: test_id }}
            className="self-start font-medium text-accent-ink hover:underline"
          >
            Edit this test
          </Link>
        </div>
      )}
    </section>
  );
}

/** The attempts with their transcripts, which are read by themselves if the run does not have them. */
function Attempts({ run, result }: { run: Run; result: RunResult }) {
  const ended = result.attempts.filter(({ ended_at }) => ended_at !== null);
  const isShort = ended.some(({ transcript, error }) => transcript === null && error === null);
  const whole = useQuery({
    ...runResultQuery(run.agent_id, run.run_id, result.test_id, ended.length),
    enabled: isShort,
  });
  if (isShort && whole.isLoadingError) return <ErrorState error={whole.error} onRetry={whole.refetch} />;
  if (isShort && whole.isPending)
    return (
      <div role="status" aria-label="Loading">
        <Skeleton className="h-32" />
      </div>
    );
  const { attempts } = (isShort && whole.data) || result;
  return attempts.map((attempt) => (
    <AttemptView key={attempt.attempt} attempt={attempt} isOnly={attempts.length === 1} />
  ));
}
