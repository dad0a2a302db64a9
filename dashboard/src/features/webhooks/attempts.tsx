import type { ReactNode } from "react";
import { Badge } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { latencyOf } from "../../ui/numbers.ts";
import { Time } from "../../ui/time.tsx";
import type { SentDelivery } from "./queries.ts";

type Attempt = SentDelivery["attempts"][number];

/** What a delivery carries. */
export function Payload({ payload }: Pick<SentDelivery, "payload">) {
  if (payload === null)
    return <p className="text-muted">The payload was deleted with its conversation, so it cannot be sent again.</p>;
  return (
    <Disclosure title="Payload">
      <CodeBlock text={indented(payload)} copied="the payload" className="max-h-96 break-words whitespace-pre-wrap" />
    </Disclosure>
  );
}

/** Every attempt of a delivery, with what was sent and the receiver's answer. */
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
              <Time at={attempt.started_at} seconds />
            </span>
          </div>
          {attempt.error && <p className="mt-1.5 break-words text-danger-ink">{attempt.error}</p>}
          {attempt.request && (
            <Disclosure title="Request">
              <CodeBlock text={headOf(attempt.request)} copied="the request" className={WRAPPED} />
            </Disclosure>
          )}
          {attempt.response_excerpt && (
            <Disclosure title="Response" open>
              <CodeBlock text={attempt.response_excerpt} copied="the response" className={WRAPPED} />
            </Disclosure>
          )}
        </li>
      ))}
    </ol>
  );
}

const WRAPPED = "max-h-48 break-words whitespace-pre-wrap";

function Disclosure({ title, open = false, children }: { title: string; open?: boolean; children: ReactNode }) {
  return (
    <details className="mt-2" open={open}>
      <summary className="w-fit cursor-pointer rounded text-muted hover:text-ink">{title}</summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}

/** The method, address and headers, as they are in the request. */
function headOf({ method, url, headers }: NonNullable<Attempt["request"]>): string {
  return [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join("\n");
}

function indented(payload: string): string {
  return JSON.stringify(JSON.parse(payload), null, 2);
}

function Outcome({ attempt: { http_status } }: { attempt: Attempt }) {
  if (http_status === null) return <Badge tone="danger">No response</Badge>;
  return <Badge tone={http_status >= 200 && http_status < 300 ? "success" : "danger"}>{http_status}</Badge>;
}
