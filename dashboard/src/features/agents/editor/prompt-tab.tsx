import { Link } from "@tanstack/react-router";
import { Eye, History, PencilLine } from "lucide-react";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { SelectField, TextareaField, TextField } from "../../../ui/form/fields.tsx";
import { Section, Sections } from "../../../ui/form/section.tsx";
import { timeZoneOptions } from "../../../ui/form/time-zones.ts";
import { ToggleButton } from "../../../ui/toggle-button.tsx";
import { filled, type Variable, variablesIn } from "../../prompts/variables.ts";
import { AboutSection } from "./about-section.tsx";
import { type AgentDraft, useShownPrompt } from "./draft.ts";
import { PromptSource } from "./prompt-source.tsx";

/** Who the agent is, what it says first, and the prompt it follows. */
export function PromptTab({ draft }: { draft: AgentDraft }) {
  const { values, set, errorAt } = draft;
  const [preview, setPreview] = useState(false);
  const greeting = values.first_message_prompt ?? "";
  const { shared, text: prompt } = useShownPrompt(draft);
  const variables = useMemo(() => variablesIn(prompt, greeting), [prompt, greeting]);
  // A text of the agent's own has versions once it is saved.
  const named = shared?.name ?? draft.agent.prompt?.prompt_name;
  const source = shared ? { kind: "shared" as const, ...shared } : { kind: "own" as const, text: prompt };
  return (
    <Sections>
      <Section title="Greeting" description="What the agent says first.">
        <TextareaField
          label={<span className="sr-only">Greeting</span>}
          error={errorAt("first_message_prompt")}
          className="-mt-2"
          controlClass="field-sizing-content min-h-16"
          rows={2}
          maxLength={10_000}
          placeholder="Without a greeting, the agent waits for the other person to speak."
          value={greeting}
          onChange={(event) => set({ first_message_prompt: event.target.value || null })}
        />
      </Section>
      <Section
        title="Prompt"
        description={
          <>
            Who the agent is, what it does, and how it speaks. <code className="font-mono">{"{{name | default}}"}</code>{" "}
            is a variable that each conversation fills in.
          </>
        }
        actions={
          <div className="flex flex-wrap gap-2">
            {named && (
              <Button asChild size="small">
                <Link to="/prompts/$promptName" params={{ promptName: named }}>
                  <History aria-hidden /> Prompt versions
                </Link>
              </Button>
            )}
            <ToggleButton size="small" pressed={preview} onChange={setPreview}>
              {preview ? <PencilLine aria-hidden /> : <Eye aria-hidden />}
              {preview ? "Edit" : "Preview"}
            </ToggleButton>
          </div>
        }
      >
        {preview ? (
          <Preview text={prompt} variables={variables} />
        ) : (
          <PromptSource
            label="Prompt"
            type="main"
            source={source}
            onText={(text) => set({ prompt_content: text || null })}
            onShared={(prompt_name, which) => set({ prompt: { prompt_name, ...which } })}
            errors={{
              text: errorAt("prompt_content") ?? errorAt("prompt"),
              name: errorAt("prompt.prompt_name"),
              version: errorAt("prompt.prompt_version") ?? errorAt("prompt.prompt_label"),
            }}
          />
        )}
        <VariableList variables={variables} />
        <SelectField
          label="Time zone"
          hint="Of {{system_time}} and {{system_date}}, which Parley sets like all variables that begin with system_."
          error={errorAt("timezone")}
          controlClass="max-w-72"
          value={values.timezone ?? ""}
          onChange={(timezone) => set({ timezone: timezone || null })}
          options={[{ value: "", label: "That of your settings" }, ...timeZoneOptions(values.timezone ?? "")]}
        />
      </Section>
      <AboutSection draft={draft} />
    </Sections>
  );
}

/** The prompt as a conversation with the given values would have it. */
function Preview({ text, variables }: { text: string; variables: readonly Variable[] }) {
  const [values, setValues] = useState<Record<string, string>>({});
  // What is typed shows before the text that has it.
  const shown = useDeferredValue(values);
  return (
    <>
      {variables.length > 0 && (
        <div className="grid gap-4 sm:grid-cols-2">
          {variables.map(({ name, defaultValue }) => (
            <TextField
              key={name}
              label={<code className="font-mono text-[0.8125rem]">{name}</code>}
              placeholder={defaultValue ?? ""}
              value={values[name] ?? ""}
              onChange={(event) => setValues({ ...values, [name]: event.target.value })}
            />
          ))}
        </div>
      )}
      <Filled text={text} variables={variables} values={shown} />
    </>
  );
}

const Filled = memo(function Filled({
  text,
  variables,
  values,
}: {
  text: string;
  variables: readonly Variable[];
  values: Record<string, string>;
}) {
  return (
    <section
      aria-label="Preview"
      className="rounded-lg border border-line bg-surface p-4 break-words whitespace-pre-wrap"
    >
      {filled(text, variables, values)}
    </section>
  );
});

function VariableList({ variables }: { variables: readonly Variable[] }) {
  if (variables.length === 0) return null;
  return (
    <div>
      <h3 className="mb-2 text-[0.8125rem] font-medium text-muted">Variables</h3>
      <ul className="flex flex-wrap gap-1.5">
        {variables.map(({ name, defaultValue }) => (
          <li key={name} className="max-w-full">
            <Badge tone={defaultValue === null ? "warning" : "accent"}>
              <code className="truncate font-mono">{name}</code>
              <span className="max-w-64 truncate font-normal">
                {defaultValue === null ? "needs a value" : `= ${defaultValue}`}
              </span>
            </Badge>
          </li>
        ))}
      </ul>
    </div>
  );
}
