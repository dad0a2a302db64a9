import { Field } from "../../../ui/form/field.tsx";
import { Section } from "../../../ui/form/section.tsx";
import { Switch } from "../../../ui/form/switch.tsx";
import type { AgentDraft } from "../editor/draft.ts";

/** Whether what is saved takes effect at once. It is saved with the agent's settings. */
export function PublishingSection({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  const isAuto = values.publishing !== "manual";
  return (
    <Section title="Publishing" description="Each save makes a version, which never changes.">
      <Field
        label="Publish what I save at once"
        hint={
          isAuto
            ? "Conversations that begin after a save get the new version."
            : "Conversations go on with the published version until you publish another."
        }
        error={errorAt("publishing")}
      >
        {(control) => (
          <Switch {...control} checked={isAuto} onChange={(on) => set({ publishing: on ? "auto" : "manual" })} />
        )}
      </Field>
    </Section>
  );
}
