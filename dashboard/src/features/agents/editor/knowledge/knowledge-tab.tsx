import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Section, Sections } from "../../../../ui/form/section.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { numberOf } from "../../../../ui/numbers.ts";
import { allBasesQuery } from "../../../knowledge/knowledge.ts";
import type { AgentDraft } from "../draft.ts";
import { type KnowledgeUse, UseFields } from "./use-fields.tsx";

/** More than that, the API refuses. */
const BASES_MAX = 5;
/** Every field, as the API shows it, so that one that is added and stored is the same. */
const NEW = { mode: "tool", max_chunks: 6, max_characters: 8_000 } as const;

/** The knowledge bases that the agent answers from. */
export function KnowledgeTab({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  const bases = useQuery(allBasesQuery).data;
  const uses: readonly KnowledgeUse[] = values.knowledge ?? [];
  const byId = new Map(bases?.items.map((base) => [base.id, base]));
  const rest = bases?.items.filter(({ id }) => uses.every(({ knowledge_base_id }) => knowledge_base_id !== id)) ?? [];
  const setAll = (knowledge: KnowledgeUse[]) => set({ knowledge });
  return (
    <Sections>
      <Section
        title="Knowledge"
        description="Documents that the agent answers from. Each reply says which parts of them the model was given."
      >
        <FieldError>{errorAt("knowledge")}</FieldError>
        {uses.map((use, at) => (
          <UseFields
            key={use.knowledge_base_id}
            use={use}
            base={byId.get(use.knowledge_base_id)}
            isMissing={bases?.areAll === true && !byId.has(use.knowledge_base_id)}
            onChange={(changed) => setAll(uses.with(at, { ...use, ...changed }))}
            onRemove={() => setAll(uses.toSpliced(at, 1))}
            errorAt={(field) => errorAt(`knowledge.${at}.${field}`)}
          />
        ))}
        {bases?.items.length === 0 ? (
          <p className="text-muted">
            You have no knowledge base yet.{" "}
            <Link to="/knowledge" search={{ new: true }} className="text-accent-ink underline">
              Create one
            </Link>{" "}
            first.
          </p>
        ) : (
          <Select
            aria-label="Add a knowledge base"
            className="sm:w-80"
            value=""
            disabled={rest.length === 0 || uses.length >= BASES_MAX}
            placeholder={
              uses.length >= BASES_MAX
                ? `An agent has at most ${BASES_MAX} knowledge bases`
                : bases && rest.length === 0
                  ? "The agent has all of your knowledge bases"
                  : "Add a knowledge base…"
            }
            onChange={(id) => setAll([...uses, { knowledge_base_id: id, ...NEW }])}
            options={rest.map(({ id, name, document_count }) => ({
              value: id,
              label: name,
              hint: `${numberOf(document_count)} ${document_count === 1 ? "document" : "documents"}`,
            }))}
          />
        )}
      </Section>
    </Sections>
  );
}
