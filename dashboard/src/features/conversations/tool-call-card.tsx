import { clsx } from "clsx";
import { ChevronRight, Wrench } from "lucide-react";
import { useId, useState } from "react";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { latencyOf } from "../../ui/numbers.ts";
import { indented } from "./indented.ts";
import type { ToolCall } from "./said.ts";

const STATUSES: Readonly<Record<ToolCall["status"], { label: string; tone: Tone }>> = {
  REQUESTED: { label: "Waiting", tone: "neutral" },
  RUNNING: { label: "Running", tone: "accent" },
  SUCCEEDED: { label: "Succeeded", tone: "success" },
  FAILED: { label: "Failed", tone: "danger" },
  CANCELLED: { label: "Cancelled", tone: "neutral" },
  UNKNOWN: { label: "Outcome unknown", tone: "warning" },
};

/**
 * A tool that the agent's model called, with arguments and result.
 * @param startsOpen whether they show from the beginning
 */
export function ToolCallCard({ call, startsOpen = false }: { call: ToolCall; startsOpen?: boolean }) {
  const [isOpen, setOpen] = useState(startsOpen);
  const id = useId();
  const facts = [
    call.http_status !== null && `HTTP status ${call.http_status}`,
    call.attempts > 0 && `${call.attempts} ${call.attempts === 1 ? "attempt" : "attempts"}`,
    call.tool_call_id,
  ].filter(Boolean);
  return (
    <div className="w-104 max-w-full overflow-hidden rounded-xl border border-line bg-raised text-sm">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        className="flex w-full min-w-0 items-center gap-2 px-3 py-2 text-left outline-offset-[-2px] hover:bg-hover"
        onClick={() => setOpen(!isOpen)}
      >
        <Wrench className="size-3.5 shrink-0 text-muted" aria-hidden />
        <span className="sr-only">Tool call</span>
        <span className="min-w-0 truncate font-mono text-xs">{call.name || "(no name)"}</span>
        <Badge tone={STATUSES[call.status].tone}>{STATUSES[call.status].label}</Badge>
        {call.duration_ms !== null && (
          <span className="ml-auto shrink-0 pl-2 text-xs text-muted tabular-nums">
            {call.duration_ms === 0 ? "under 1 ms" : latencyOf(call.duration_ms)}
          </span>
        )}
        <ChevronRight
          className={clsx(
            "size-4 shrink-0 text-muted transition-transform motion-reduce:transition-none",
            isOpen && "rotate-90",
            call.duration_ms === null && "ml-auto",
          )}
          aria-hidden
        />
      </button>
      {isOpen && (
        <div id={id} className="flex flex-col gap-3 border-t border-line bg-canvas p-3">
          <Part name="Arguments" text={indented(call.arguments)} />
          {facts.length > 0 && <p className="text-xs text-muted wrap-anywhere">{facts.join(" · ")}</p>}
          {call.note && <p className="text-xs text-muted">{call.note}</p>}
          {call.status !== "REQUESTED" && call.status !== "RUNNING" && (
            <Part name={call.is_error ? "Error" : "Result"} text={indented(call.result)} />
          )}
          {call.is_cut && <p className="text-xs text-muted">Too long to store in full; only the beginning is shown.</p>}
        </div>
      )}
    </div>
  );
}

function Part({ name, text }: { name: string; text: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <p className="text-xs font-medium text-muted">{name}</p>
      {text === "" ? (
        <p className="text-xs text-muted">Not stored</p>
      ) : (
        <CodeBlock
          text={text}
          copied={name.toLowerCase()}
          className="max-h-64 pr-14! break-words whitespace-pre-wrap"
        />
      )}
    </div>
  );
}
