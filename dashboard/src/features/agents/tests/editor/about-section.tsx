import { useQuery } from "@tanstack/react-query";
import { Field } from "../../../../ui/form/field.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { NumberInput } from "../../../../ui/form/number-input.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import { agentQuery } from "../../agents.ts";
import type { TestDraft } from "./draft.ts";

const REPEAT_MAX = 10;

/** What the test is called, how often it is held, and whether a version needs it. */
export function AboutSection({ draft: { form, set, errorAt }, agentId }: { draft: TestDraft; agentId: string }) {
  const isManual = useQuery(agentQuery(agentId)).data?.publishing === "manual";
  return (
    <Section title="About">
      <Field label="Name" error={errorAt("name")}>
        {(control) => (
          <Input
            {...control}
            maxLength={100}
            placeholder="Looks up an order"
            value={form.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Field
        label="Required"
        hint={
          <>
            A version is published only if this test has passed for it.
            {!isManual && " For that, turn off “Publish what I save at once” in the agent's versions."}
          </>
        }
        error={errorAt("required")}
      >
        {(control) => (
          <span>
            <Switch {...control} checked={form.required} onChange={(required) => set({ required })} />
          </span>
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Repeat" hint="How often the conversation is held in a run." error={errorAt("repeat")}>
          {(control) => (
            <NumberInput
              {...control}
              min={1}
              max={REPEAT_MAX}
              placeholder="1"
              value={form.repeat}
              onChange={(repeat) => set({ repeat })}
            />
          )}
        </Field>
        <Field
          label="Pass at least"
          optional
          hint="How many of these must pass. Models do not always answer alike."
          error={errorAt("pass_at_least")}
        >
          {(control) => (
            <NumberInput
              {...control}
              min={1}
              max={REPEAT_MAX}
              placeholder="All"
              value={form.pass_at_least}
              onChange={(pass_at_least) => set({ pass_at_least })}
            />
          )}
        </Field>
      </div>
    </Section>
  );
}
