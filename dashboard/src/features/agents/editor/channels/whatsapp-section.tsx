import { useId } from "react";
import { FieldError } from "../../../../ui/form/field.tsx";
import { Section } from "../../../../ui/form/section.tsx";
import { Switch } from "../../../../ui/form/switch.tsx";
import type { AgentDraft } from "../draft.ts";

/** How the agent behaves on WhatsApp, once a WhatsApp number is connected for it. */
export function WhatsAppSection({ draft: { values, set, errorAt } }: { draft: AgentDraft }) {
  const id = useId();
  const error = errorAt("whatsapp.voice_replies") ?? errorAt("whatsapp");
  return (
    <Section title="WhatsApp" description="Connect a WhatsApp number under Numbers & carriers.">
      <div className="flex items-start gap-3">
        <Switch
          id={id}
          checked={values.whatsapp?.voice_replies ?? false}
          onChange={(on) => set({ whatsapp: on ? { voice_replies: true } : {} })}
        />
        <label htmlFor={id} className="min-w-0">
          Answer voice messages with voice messages
          <span className="block text-[0.8125rem] text-muted">The agent needs a voice of its own, under Models.</span>
        </label>
      </div>
      <FieldError>{error}</FieldError>
    </Section>
  );
}
