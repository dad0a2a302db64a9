import type { Schema } from "../../../../api/client.ts";
import { ReadableValue } from "../../versions/readable-value.tsx";

type Difference = Schema["ReplayDifference"];

const NAMES: Readonly<Record<Difference["what"], string>> = {
  tools: "Tool calls",
  outcome: "Outcome",
  analysis: "Analysis",
  reply: "What the user learns",
};

/** What differs between a stored conversation and its replay, side by side. */
export function DifferenceView({ difference }: { difference: Difference }) {
  const { what, field, before, after, reason } = difference;
  const name = field === undefined ? NAMES[what] : `${NAMES[what]}: ${field}`;
  return (
    <div className="flex flex-col gap-2">
      <h3 className="font-medium wrap-anywhere">{name}</h3>
      {reason !== undefined && (
        <p dir="auto" className="rounded-lg bg-danger-soft px-3 py-2 wrap-anywhere">
          {reason}
        </p>
      )}
      {(before !== undefined || after !== undefined) && (
        <div className="grid gap-3 md:grid-cols-2">
          <Side label="Stored" what={what} value={before} />
          <Side label="Replay" what={what} value={after} />
        </div>
      )}
    </div>
  );
}

function Side({ label, what, value }: { label: string; what: string; value: unknown }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="text-xs font-medium text-muted">{label}</p>
      <div
        dir="auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
        tabIndex={0}
        className="max-h-64 overflow-auto rounded-lg border border-line px-3 py-2 wrap-anywhere whitespace-pre-wrap"
      >
        <ReadableValue field={`replay.${what}`} value={value} />
      </div>
    </div>
  );
}
