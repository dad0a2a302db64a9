import { TextareaField, TextField } from "../../../ui/form/fields.tsx";
import { Section } from "../../../ui/form/section.tsx";
import type { ToolDraft } from "./draft.ts";

/** What models know of the tool. */
export function AboutSection({ draft: { form, set, errorAt } }: { draft: ToolDraft }) {
  const isMcp = form.type === "mcp";
  return (
    <Section title="About">
      <TextField
        label="Name"
        hint={
          isMcp
            ? "Models call the server's tools by this name, two underscores, and their own name."
            : "Models call the tool by this name. Letters, digits, and underscores."
        }
        error={errorAt("name")}
        maxLength={64}
        controlClass="font-mono text-[0.8125rem]"
        placeholder={isMcp ? "shop" : "look_up_order"}
        value={form.name}
        onChange={(event) => set({ name: event.target.value })}
      />
      <TextareaField
        label="Description"
        hint={
          isMcp
            ? "For you: models read the descriptions of the server's tools."
            : "The model reads it to decide when to call the tool."
        }
        error={errorAt("description")}
        rows={2}
        maxLength={2_000}
        controlClass="field-sizing-content min-h-16"
        placeholder={isMcp ? "Tools of the shop's server." : "Looks up an order by its number."}
        value={form.description}
        onChange={(event) => set({ description: event.target.value })}
      />
    </Section>
  );
}
