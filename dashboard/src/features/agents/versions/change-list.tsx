import { lazy, Suspense, useState } from "react";
import type { Schema } from "../../../api/client.ts";
import { Segments } from "../../../ui/segments.tsx";
import { Skeleton } from "../../../ui/states.tsx";
import { labelOfField } from "../editor/field-labels.ts";
import { KnowledgeValue } from "./knowledge-value.tsx";

type Change = Schema["AgentVersionDiff"]["changes"][number];

const TextDifference = lazy(() =>
  import("../../prompts/difference.tsx").then((module) => ({ default: module.Difference })),
);

const LAYOUTS = [
  { value: "inline", label: "Inline" },
  { value: "split", label: "Side by side" },
] as const;
type Layout = (typeof LAYOUTS)[number]["value"];

/** The fields in which two versions differ; texts with what changed in them marked. */
export function ChangeList({ changes, from, to }: { changes: readonly Change[]; from: number; to: number }) {
  const [layout, setLayout] = useState<Layout>("inline");
  return (
    <>
      {changes.some(isText) && (
        <Segments label="Layout of texts" options={LAYOUTS} value={layout} onChange={setLayout} />
      )}
      {changes.map((change) => (
        <section key={change.field} aria-label={change.field} className="flex min-w-0 flex-col gap-2">
          <h3 className="flex flex-wrap items-baseline gap-x-2 font-medium">
            {labelOfField(change.field)}
            <code className="font-mono text-xs font-normal break-all text-muted">{change.field}</code>
          </h3>
          {isText(change) ? (
            <Suspense fallback={<Skeleton className="h-40 w-full" />}>
              <TextDifference
                key={layout}
                before={String(change.from)}
                after={String(change.to)}
                beforeLabel={`Version ${from}`}
                afterLabel={`Version ${to}`}
                layout={layout}
              />
            </Suspense>
          ) : (
            <div className="grid gap-2 sm:grid-cols-2">
              <Value name={`Version ${from}`} field={change.field} value={change.from} />
              <Value name={`Version ${to}`} field={change.field} value={change.to} />
            </div>
          )}
        </section>
      ))}
    </>
  );
}

/** The API compares the lines of prompts and longer texts. */
function isText({ diff }: Change): boolean {
  return diff !== undefined;
}

function Value({ name, field, value }: { name: string; field: string; value: unknown }) {
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line">
      <p className="border-b border-line bg-surface px-3 py-1 text-xs font-medium text-muted">{name}</p>
      {field === "knowledge" && Array.isArray(value) && value.length > 0 ? (
        <div className="bg-raised px-3 py-2">
          <KnowledgeValue uses={value} />
        </div>
      ) : (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
          tabIndex={0}
          className="max-h-60 overflow-auto bg-raised px-3 py-2 font-mono text-[0.8125rem] wrap-anywhere whitespace-pre-wrap"
        >
          {shown(value)}
        </pre>
      )}
    </div>
  );
}

function shown(value: unknown): string {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return "Nothing";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
