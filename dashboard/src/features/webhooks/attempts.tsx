import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { latencyOf } from "../../ui/numbers.ts";
import { Time } from "../../ui/time.tsx";
import type { Delivery } from "./queries.ts";

type Attempt = Delivery["attempts"][number];

/** Every attempt of a delivery, with the receiver's answer. */
export function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) return <p className="text-muted">The first attempt is about to start.</p>;
  return (
    <ol className="flex flex-col gap-3">
      {attempts.map((attempt) => (
        <li key={attempt.number} className="rounded-lg border border-line bg-raised px-3.5 py-2.5">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">Attempt {attempt.number}</span>
            <Outcome attempt={attempt} />
            <span className="text-muted tabular-nums">{latencyOf(attempt.duration_ms)}</span>
            <span className="ml-auto text-muted">
              <Time at={attempt.started_at} />
            </span>
          </div>
          {attempt.error && <p className="mt-1.5 break-words text-danger-ink">{attempt.error}</p>}
          {attempt.response_excerpt && (
            <div className="mt-2">
              <CodeBlock
                text={attempt.response_excerpt}
                copied="the response"
                className="max-h-48 whitespace-pre-wrap"
              />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}

function Outcome({ attempt: { http_status } }: { attempt: Attempt }) {
  if (http_status === null) return <Badge tone="danger">No response</Badge>;
  return <Badge tone={http_status >= 200 && http_status < 300 ? "success" : "danger"}>{http_status}</Badge>;
}
