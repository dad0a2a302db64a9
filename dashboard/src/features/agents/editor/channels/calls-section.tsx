import { useId } from "react";
import { FieldError } from "../../../../ui/form/field.tsx";
import { TextareaField } from "../../../../ui/form/fields.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import type { AgentDraft } from "../draft.ts";

const LINES = [
  {
    name: "voicemail_message",
    label: "Voicemail message",
    hint: "What the agent leaves if voicemail answers a call that it makes and you chose to leave a message.",
    placeholder: "Without a message, the agent hangs up on voicemail.",
  },
  {
    name: "apology",
    label: "Apology",
    hint: "What the agent says before it ends a call that cannot continue, for example because its model fails.",
    placeholder: "Parley's own apology, in English",
  },
] as const;

/** What happens in calls, whichever way they reach the agent. */
export function CallsSection({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  const id = useId();
  const settings = values.call_settings ?? {};
  const change = (name: (typeof LINES)[number]["name"], text: string) => {
    const { [name]: _, ...others } = settings;
    set({ call_settings: text === "" ? others : { ...others, [name]: text } });
  };
  const recordingError = errorAt("recording");
  return (
    <Section title="Calls" description="By phone, from a web page, and in rooms.">
      <div>
        <div className="flex items-start gap-3">
          <Switch id={id} checked={values.recording ?? false} onChange={(recording) => set({ recording })} />
          <label htmlFor={id} className="min-w-0">
            Record calls
            <span className="block text-[0.8125rem] text-muted">
              Listen to them under Conversations. Ask the people who call for their consent where the law requires it.
            </span>
          </label>
        </div>
        <FieldError className="mt-1.5">{recordingError}</FieldError>
      </div>
      {LINES.map(({ name, label, hint, placeholder }) => (
        <TextareaField
          key={name}
          label={label}
          optional
          hint={hint}
          error={errorAt(`call_settings.${name}`)}
          rows={2}
          maxLength={1_000}
          controlClass="field-sizing-content min-h-16"
          placeholder={placeholder}
          value={settings[name] ?? ""}
          onChange={(event) => change(name, event.target.value)}
        />
      ))}
    </Section>
  );
}
