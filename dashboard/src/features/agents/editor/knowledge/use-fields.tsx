import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { numberOf } from "../../../../ui/numbers.ts";
import type { KnowledgeBase } from "../../../knowledge/knowledge.ts";
import type { Agent } from "../../agents.ts";

export type KnowledgeUse = NonNullable<Agent["knowledge"]>[number];

export const MODES = [
  {
    value: "tool",
    label: "Search when needed",
    hint: "The model searches when it decides to. It costs nothing in turns without a question, but some models forget to search.",
  },
  {
    value: "always",
    label: "Search every message",
    hint: "Each message is searched before the model is asked. Answers stay close to the documents, and each turn has more tokens.",
  },
  {
    value: "prompt",
    label: "Whole text in the prompt",
    hint: "The model always has all of it: best for a page or two. At most 40,000 characters of all knowledge bases together.",
  },
] as const;

/** How an agent uses one of its knowledge bases. */
export function UseFields({
  use,
  base,
  isMissing,
  onChange,
  onRemove,
  errorAt,
}: {
  use: KnowledgeUse;
  base: KnowledgeBase | undefined;
  isMissing: boolean;
  onChange: (changed: Partial<KnowledgeUse>) => void;
  onRemove: () => void;
  errorAt: (field: string) => string | undefined;
}) {
  const { knowledge_base_id: id, mode } = use;
  const name = base?.name ?? (isMissing ? "Deleted knowledge base" : id);
  return (
    <fieldset className="relative flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="sr-only">{name}</legend>
      <Button
        variant="ghost"
        size="icon"
        className="absolute! top-2 right-2"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        <X aria-hidden />
      </Button>
      <div className="min-w-0 pr-10">
        <Link
          to="/knowledge/$baseId"
          params={{ baseId: id }}
          search={{}}
          dir="auto"
          className="block truncate font-medium hover:underline"
        >
          {name}
        </Link>
        {base && (
          <p className="text-[0.8125rem] text-muted">
            {numberOf(base.document_count)} {base.document_count === 1 ? "document" : "documents"},{" "}
            {numberOf(base.characters)} characters
          </p>
        )}
        {mode === "tool" && base?.description === "" && (
          <p className="text-[0.8125rem] text-warning-ink">
            Describe what is in this knowledge base: the model reads that to decide when to search.
          </p>
        )}
        <FieldError>{errorAt("knowledge_base_id")}</FieldError>
      </div>
      <SelectField
        label="Mode"
        hint={MODES.find(({ value }) => value === mode)?.hint}
        error={errorAt("mode")}
        controlClass="sm:w-80"
        value={mode}
        onChange={(next) => onChange({ mode: next as KnowledgeUse["mode"] })}
        options={MODES.map(({ value, label }) => ({ value, label }))}
      />
      {mode !== "prompt" && <SearchFields use={use} onChange={onChange} errorAt={errorAt} />}
    </fieldset>
  );
}

function SearchFields({
  use,
  onChange,
  errorAt,
}: {
  use: KnowledgeUse;
  onChange: (changed: Partial<KnowledgeUse>) => void;
  errorAt: (field: string) => string | undefined;
}) {
  return (
    <div className="grid items-start gap-4 sm:grid-cols-3">
      <TextField
        label="Most chunks"
        hint="Of one search, 1 to 50. Default: 6."
        error={errorAt("max_chunks")}
        type="number"
        min={1}
        max={50}
        value={use.max_chunks ?? ""}
        onChange={({ target }) => onChange({ max_chunks: numberIn(target.value) })}
      />
      <TextField
        label="Most characters"
        hint="Of these chunks together, 500 to 40,000. Default: 8,000."
        error={errorAt("max_characters")}
        type="number"
        min={500}
        max={40_000}
        value={use.max_characters ?? ""}
        onChange={({ target }) => onChange({ max_characters: numberIn(target.value) })}
      />
      <TextField
        label="Lowest score"
        optional
        hint="0 to 1. Chunks below it are left out, so that the model says that it does not know. Try 0.2."
        error={errorAt("min_score")}
        type="number"
        min={0}
        max={1}
        step="any"
        value={use.min_score ?? ""}
        // Without one, the API shows no such field.

        onChange={({ target }) => onChange({ min_score: numberIn(target.value) ?? undefined })}
      />
    </div>
  );
}

/** Null for a field that is empty: the default. */
function numberIn(text: string): number | null {
  return text === "" ? null : Number(text);
}
