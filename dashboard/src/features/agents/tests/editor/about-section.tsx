import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Field } from "../../../../ui/form/field.tsx";
import { NumberField, TextField } from "../../../../ui/form/fields.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import { agentQuery } from "../../agents.ts";
import type { TestDraft } from "./draft.ts";

const REPEAT_MAX = 10;

/** What the test is called, how often it is held, and whether a version needs it. */
export function AboutSection({ draft: { form, set, errorAt }, agentId }: { draft: TestDraft; agentId: string }) {
  const isAuto = useQuery(agentQuery(agentId)).data?.publishing === "auto";
  return (
    <Section title="About">
      <TextField
        label="Name"
        error={errorAt("name")}
        maxLength={100}
        placeholder="Looks up an order"
        value={form.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <Field
        label="Required"
        hint={
          <>
            A version is published only if this test has passed for it.
            {isAuto && (
              <>
                {" "}
                For that, first turn off “Publish what I save at once” in the{" "}
                <Link
                  to="/agents/$agentId"
                  params={{ agentId }}
                  search={{ tab: "versions" }}
                  className="text-accent-ink underline"
                >
                  agent's versions
                </Link>
                .
              </>
            )}
          </>
        }
        error={errorAt("required")}
      >
        {(control) => (
          <span>
            <Switch
              {...control}
              disabled={isAuto && !form.required}
              checked={form.required}
              onChange={(required) => set({ required })}
            />
          </span>
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <NumberField
          label="Repeat"
          hint="How often the conversation is held in a run."
          error={errorAt("repeat")}
          min={1}
          max={REPEAT_MAX}
          placeholder="1"
          value={form.repeat}
          onChange={(repeat) => set({ repeat })}
        />
        <NumberField
          label="Pass at least"
          optional
          hint="How many of these must pass. Models do not always answer alike."
          error={errorAt("pass_at_least")}
          min={1}
          max={REPEAT_MAX}
          placeholder="All"
          value={form.pass_at_least}
          onChange={(pass_at_least) => set({ pass_at_least })}
        />
      </div>
    </Section>
  );
}
