import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Schema } from "../../../api/client.ts";
import { Segments } from "../../../ui/segments.tsx";
import { ErrorState, Skeleton } from "../../../ui/states.tsx";
import { titleOfField } from "../editor/field-labels.ts";
import { PROMPTS, type Prompt, promptInWords, promptOf, textOf } from "./prompt-words.ts";
import { ReadableValue } from "./readable-value.tsx";
import { type Pair, versionQuery } from "./versions.ts";

type Change = Schema["AgentVersionDiff"]["changes"][number];

const TextDifference = lazy(() =>
  import("../../prompts/difference.tsx").then((module) => ({ default: module.Difference })),
);

const LAYOUTS = [
  { value: "inline", label: "Inline" },
  { value: "split", label: "Side by side" },
] as const;
type Layout = (typeof LAYOUTS)[number]["value"];

/** The fields in which two versions differ, in words; texts with what changed in them marked. */
export function ChangeList({ changes, pair }: { changes: readonly Change[]; pair: Pair }) {
  const [layout, setLayout] = useState<Layout>("inline");
  const prompts = PROMPTS.filter((prompt) => changes.some(({ field }) => promptOf(field) === prompt));
  const others = changes.filter(({ field }) => promptOf(field) === null);
  return (
    <>
      {(prompts.length > 0 || others.some(isText)) && (
        <Segments label="Layout of texts" options={LAYOUTS} value={layout} onChange={setLayout} />
      )}
      {prompts.map((prompt) => (
        <PromptChange key={prompt} prompt={prompt} pair={pair} layout={layout} />
      ))}
      {others.map((change) => (
        <Changed key={change.field} title={titleOfField(change.field)}>
          {isText(change) ? (
            <Texts before={String(change.from)} after={String(change.to)} pair={pair} layout={layout} />
          ) : (
            <Values
              pair={pair}
              before={<ReadableValue field={change.field} value={change.from} />}
              after={<ReadableValue field={change.field} value={change.to} />}
            />
          )}
        </Changed>
      ))}
    </>
  );
}

/** The API compares the lines of longer texts. */
function isText({ diff }: Change): boolean {
  return diff !== undefined;
}

/** Which prompt the versions have, and what its text is. A diff has only what differs of both, which does not tell. */
function PromptChange({ prompt, pair, layout }: { prompt: Prompt; pair: Pair; layout: Layout }) {
  const from = useQuery(versionQuery(pair.agentId, pair.from));
  const to = useQuery(versionQuery(pair.agentId, pair.to));
  const failed = [from, to].find(({ isLoadingError }) => isLoadingError);
  if (failed) return <ErrorState error={failed.error} onRetry={failed.refetch} />;
  if (!from.data || !to.data) return <Skeleton className="h-40 w-full" />;
  const [before, after] = [promptInWords(from.data, prompt), promptInWords(to.data, prompt)];
  const [textBefore, textAfter] = [textOf(from.data, prompt), textOf(to.data, prompt)];
  return (
    <Changed title={titleOfField(prompt)}>
      {before !== after && <Values pair={pair} before={before} after={after} />}
      {textBefore !== textAfter && <Texts before={textBefore} after={textAfter} pair={pair} layout={layout} />}
    </Changed>
  );
}

function Changed({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h3 className="font-medium wrap-anywhere">{title}</h3>
      {children}
    </section>
  );
}

function Texts({ pair, layout, ...texts }: { before: string; after: string; pair: Pair; layout: Layout }) {
  return (
    <Suspense fallback={<Skeleton className="h-40 w-full" />}>
      <TextDifference
        key={layout}
        {...texts}
        beforeLabel={`Version ${pair.from}`}
        afterLabel={`Version ${pair.to}`}
        layout={layout}
      />
    </Suspense>
  );
}

function Values({ pair, before, after }: { pair: Pair; before: ReactNode; after: ReactNode }) {
  return (
    <div className="grid gap-2 sm:grid-cols-2">
      <Value name={`Version ${pair.from}`}>{before}</Value>
      <Value name={`Version ${pair.to}`}>{after}</Value>
    </div>
  );
}

function Value({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-raised">
      <p className="border-b border-line bg-surface px-3 py-1 text-xs font-medium text-muted">{name}</p>
      <div
        dir="auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
        tabIndex={0}
        className="max-h-60 overflow-auto px-3 py-2 wrap-anywhere whitespace-pre-wrap"
      >
        {children}
      </div>
    </div>
  );
}
