import { NumberField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
import { Rows } from "../../../../ui/form/rows.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Segments } from "../../../../ui/segments.tsx";
import type { TestDraft } from "./draft.ts";
import { LineRows } from "./line-rows.tsx";
import { TestModelFields } from "./test-model-fields.tsx";

const TURNS_MAX = 50;
const TURNS_DEFAULT = 10;
const KINDS = [
  { value: "scripted", label: "Script" },
  { value: "simulated", label: "Played by a model" },
] as const;
const CHANNELS = [
  { value: "text", label: "Chat" },
  { value: "voice", label: "Call" },
] as const;

/** Who talks with the agent, and how. */
export function UserSection({ draft, agentId }: { draft: TestDraft; agentId: string }) {
  const { form, set, errorAt } = draft;
  return (
    <Section title="User" description="Who talks with the agent in the test.">
      <div className="flex flex-wrap gap-x-6 gap-y-3">
        <Segments label="What the user says" options={KINDS} value={form.kind} onChange={(kind) => set({ kind })} />
        <Segments label="Channel" options={CHANNELS} value={form.channel} onChange={(channel) => set({ channel })} />
      </div>
      {form.channel === "voice" && (
        <p className="text-muted">A voice speaks the user's words in a call, and what counts is what was heard.</p>
      )}
      {form.kind === "scripted" ? <LineRows draft={draft} /> : <Simulated draft={draft} agentId={agentId} />}
      <Rows
        label="Variables"
        item="variable"
        rows={form.variables}
        onChange={(variables) => set({ variables })}
        blank={() => ({ name: "", value: "" })}
        columns="sm:grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)_2rem]"
        error={errorAt("variables")}
      >
        {({ name, value }, change, at) => (
          <>
            <TextField
              label="Variable"
              error={errorAt(`variables.${at}`) ?? draft.errorIn(`variables.${name.trim()}`)}
              maxLength={100}
              controlClass="font-mono text-[0.8125rem]"
              placeholder="customer_name"
              value={name}
              onChange={({ target }) => change({ name: target.value })}
            />
            <TextField label="Value" value={value} onChange={({ target }) => change({ value: target.value })} />
          </>
        )}
      </Rows>
    </Section>
  );
}

function Simulated({ draft: { form, set, errorAt }, agentId }: { draft: TestDraft; agentId: string }) {
  return (
    <>
      <TextareaField
        label="Persona"
        hint="Who the user is."
        error={errorAt("persona")}
        rows={2}
        controlClass="field-sizing-content min-h-16"
        placeholder="A customer whose order is a week late, and who is angry at first."
        value={form.persona}
        onChange={({ target }) => set({ persona: target.value })}
      />
      <TextareaField
        label="Goal"
        hint="What the user wants. The user ends the conversation once this is reached, or gives up."
        error={errorAt("goal")}
        rows={2}
        controlClass="field-sizing-content min-h-16"
        placeholder="Learn where order A-1001 is."
        value={form.goal}
        onChange={({ target }) => set({ goal: target.value })}
      />
      <div className="grid gap-5 sm:grid-cols-[minmax(0,1fr)_10rem]">
        <TextField
          label="First message"
          optional
          error={errorAt("first_message")}
          placeholder="The model decides"
          value={form.first_message}
          onChange={({ target }) => set({ first_message: target.value })}
        />
        <NumberField
          label="Turns at most"
          optional
          error={errorAt("turns_max")}
          min={1}
          max={TURNS_MAX}
          placeholder={String(TURNS_DEFAULT)}
          value={form.turns_max}
          onChange={(turns_max) => set({ turns_max })}
        />
      </div>
      <TestModelFields
        label="Model that plays the user"
        agentId={agentId}
        value={form.model}
        onChange={(model) => set({ model })}
        path="model"
        errorAt={errorAt}
      />
    </>
  );
}
