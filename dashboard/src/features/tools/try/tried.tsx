import type { Schema } from "../../../api/client.ts";
import { Badge } from "../../../ui/badge.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { latencyOf } from "../../../ui/numbers.ts";
import { indented } from "../../conversations/indented.ts";

/** What came of a call: the request, the answer, and what a conversation makes of it. */
export function Tried({ result }: { result: Schema["TriedTool"] }) {
  const { request, status, answer, duration_ms, for_model, is_error, assignments } = result;
  const assigned = Object.entries(assignments);
  return (
    <section aria-label="Result" className="flex flex-col gap-5">
      <p role="status" className="flex flex-wrap items-center gap-2">
        <Badge tone={is_error ? "danger" : "success"}>{is_error ? "Failed" : "Succeeded"}</Badge>
        {status !== null && <span>Status {status}</span>}
        <span className="text-muted tabular-nums">{duration_ms === 0 ? "under 1 ms" : latencyOf(duration_ms)}</span>
      </p>
      <Part name="What the model is told" text={indented(for_model)} />
      {request && <Part name="Request" text={requestText(request)} />}
      {answer !== null && <Part name="Answer" text={indented(answer)} />}
      {assigned.length > 0 && <Part name="Assigned variables" text={JSON.stringify(assignments, null, 2)} />}
    </section>
  );
}

export function requestText({ method, url, headers, body }: NonNullable<Schema["TriedTool"]["request"]>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(body === null ? [] : ["", indented(body)])].join("\n");
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <h3 className="font-medium">{name}</h3>
      {text === "" ? (
        <p className="text-muted">Nothing</p>
      ) : (
        <CodeBlock
          text={text}
          copied={name.toLowerCase()}
          className="max-h-72 pr-14! break-words whitespace-pre-wrap"
        />
      )}
    </div>
  );
}
