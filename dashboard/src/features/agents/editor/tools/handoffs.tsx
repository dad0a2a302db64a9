import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { SelectField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { type Agent, agentNamesQuery, nameOfAgent } from "../../agents.ts";
import type { AgentDraft } from "../draft.ts";

type Handoff = Agent["handoffs"][number];

/** More than that, the API refuses. */
const HANDOFFS_MAX = 10;
const CONTEXTS = [
  { value: "all", label: "All messages" },
  { value: "last_messages", label: "The last ten messages" },
  { value: "none", label: "None" },
];
/** Every field, as the API shows it, so that a handoff that is added and stored is the same. */
const NEW = { agent_id: "", when: "", context: "all", keep_voice: false, greet: false } as const;

const DESCRIPTION = "Another agent takes over when the model decides so. The conversation stays one.";
const OF_CALLS = "This agent's calls go only to agents that have a speech-to-speech model, too.";

/** The agents to which the model may hand the conversation over. */
export function Handoffs({ draft: { agent, values, set, errorAt } }: { draft: AgentDraft }) {
  const handoffs = values.handoffs ?? [];
  const setAll = (next: Handoff[]) => set({ handoffs: next });
  return (
    <Section title="Handoffs" description={values.sts ? `${DESCRIPTION} ${OF_CALLS}` : DESCRIPTION}>
      <FieldError>{errorAt("handoffs")}</FieldError>
      {handoffs.map((handoff, at) => (
        <HandoffFields
          key={at}
          number={at + 1}
          handoff={handoff}
          agentId={agent.id}
          taken={handoffs.filter((other) => other !== handoff).map(({ agent_id }) => agent_id)}
          onChange={(changed) => setAll(handoffs.with(at, { ...handoff, ...changed }))}
          onRemove={() => setAll(handoffs.toSpliced(at, 1))}
          errorAt={(field) => errorAt(`handoffs.${at}.${field}`)}
        />
      ))}
      <div>
        <Button disabled={handoffs.length >= HANDOFFS_MAX} onClick={() => setAll([...handoffs, NEW])}>
          <Plus aria-hidden /> Add handoff
        </Button>
      </div>
    </Section>
  );
}

function HandoffFields({
  number,
  handoff,
  agentId,
  taken,
  onChange,
  onRemove,
  errorAt,
}: {
  number: number;
  handoff: Handoff;
  /** Of the agent itself, which cannot be chosen. */
  agentId: string;
  taken: readonly string[];
  onChange: (changed: Partial<Handoff>) => void;
  onRemove: () => void;
  errorAt: (field: string) => string | undefined;
}) {
  const names = useQuery(agentNamesQuery).data;
  const others = [...(names?.byId ?? [])].filter(([id]) => id !== agentId && !taken.includes(id));
  const { agent_id: target } = handoff;
  const isListed = target === "" || others.some(([id]) => id === target);
  const options = others.map(([id, name]) => ({ value: id, label: name }));
  return (
    <fieldset className="relative flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="sr-only">{`Handoff ${number}`}</legend>
      <Button
        variant="ghost"
        size="icon"
        className="absolute! top-2 right-2"
        aria-label={`Remove handoff ${number}`}
        onClick={onRemove}
      >
        <X aria-hidden />
      </Button>
      <div className="grid items-start gap-4 pr-8 sm:grid-cols-2">
        <SelectField
          label="Agent"
          hint={names && others.length === 0 && target === "" ? "You have no other agent yet." : undefined}
          error={errorAt("agent_id")}
          value={target}
          onChange={(agent_id) => onChange({ agent_id })}
          placeholder="Choose an agent…"
          options={isListed ? options : [...options, { value: target, label: nameOfAgent(names, target) }]}
        />
        <SelectField
          label="What it learns of the conversation"
          error={errorAt("context")}
          value={handoff.context ?? "all"}
          onChange={(context) => onChange({ context: context as NonNullable<Handoff["context"]> })}
          options={CONTEXTS}
        />
      </div>
      <TextareaField
        label="When"
        hint="The model reads it to decide."
        error={errorAt("when")}
        rows={2}
        maxLength={1_000}
        controlClass="field-sizing-content min-h-14"
        placeholder="The caller asks about an invoice."
        value={handoff.when}
        onChange={(event) => onChange({ when: event.target.value })}
      />
      <TextField
        label="What this agent says first"
        optional
        error={errorAt("message")}
        maxLength={1_000}
        placeholder="I'll connect you with our billing team."
        value={handoff.message ?? ""}
        onChange={(event) => onChange({ message: event.target.value || null })}
      />
      <div className="flex flex-wrap gap-x-8 gap-y-3">
        <Checkbox
          checked={handoff.keep_voice ?? false}
          onChange={(keep_voice) => onChange({ keep_voice })}
          label="Keep this agent's voice"
        />
        <Checkbox
          checked={handoff.greet ?? false}
          onChange={(greet) => onChange({ greet })}
          label="The other agent speaks its greeting"
        />
      </div>
      <FieldError>{errorAt("keep_voice") ?? errorAt("greet")}</FieldError>
    </fieldset>
  );
}
