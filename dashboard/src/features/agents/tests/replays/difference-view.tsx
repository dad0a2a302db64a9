import type { Schema } from "../../../../api/client.ts";
import { CodeBlock } from "../../../../ui/code-block.tsx";

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
          <Side label="Stored" value={before} name={name} />
          <Side label="Replay" value={after} name={name} />
        </div>
      )}
    </div>
  );
}

function Side({ label, value, name }: { label: string; value: unknown; name: string }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value ?? null, null, 2) ?? "null");
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="text-xs font-medium text-muted">{label}</p>
      {isEmpty(value) ? (
        <p className="text-muted">None</p>
      ) : (
        <CodeBlock
          text={text}
          copied={`${name}, ${label.toLowerCase()}`}
          className="max-h-64 pr-14! break-words whitespace-pre-wrap"
        />
      )}
    </div>
  );
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}
