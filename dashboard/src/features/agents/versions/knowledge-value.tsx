import { useQuery } from "@tanstack/react-query";
import { numberOf } from "../../../ui/numbers.ts";
import { allBasesQuery } from "../../knowledge/knowledge.ts";
import { type KnowledgeUse, MODES } from "../editor/knowledge/use-fields.tsx";

/** The knowledge bases that a version answers from, and how. */
export function KnowledgeValue({ uses }: { uses: readonly KnowledgeUse[] }) {
  const { data: bases, isPending } = useQuery(allBasesQuery);
  const nameOf = (id: string) => {
    if (isPending) return "…";
    return bases?.items.find((base) => base.id === id)?.name ?? (bases?.areAll ? "Deleted knowledge base" : id);
  };
  return (
    <ul className="flex flex-col gap-2">
      {uses.map((use) => (
        <li key={use.knowledge_base_id}>
          <p dir="auto" className="font-medium wrap-anywhere" title={use.knowledge_base_id}>
            {nameOf(use.knowledge_base_id)}
          </p>
          <p className="text-muted">{wordsOf(use)}</p>
        </li>
      ))}
    </ul>
  );
}

function wordsOf({ mode, max_chunks, max_characters, min_score }: KnowledgeUse): string {
  const label = MODES.find(({ value }) => value === mode)?.label ?? mode;
  if (mode === "prompt") return label;
  return [
    label,
    max_chunks != null && `at most ${numberOf(max_chunks)} chunks`,
    max_characters != null && `at most ${numberOf(max_characters)} characters`,
    min_score != null && `lowest score ${numberOf(min_score)}`,
  ]
    .filter(Boolean)
    .join(", ");
}
