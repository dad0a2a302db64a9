import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { read } from "../../../api/client.ts";
import { FieldError } from "../../../ui/form/field.tsx";
import { Section, Sections } from "../../../ui/form/section.tsx";
import { Switch } from "../../../ui/form/switch.tsx";
import { useShownFirst } from "../../../ui/painted.ts";
import { PROMPTS } from "../../prompts/prompts.ts";
import { type AgentDraft, ownPromptName } from "./draft.ts";
import { PromptSource, type Source } from "./prompt-source.tsx";
import { SchemaBuilder } from "./schema-builder.tsx";

const FIRST_PROMPT =
  "Read the conversation and fill in the fields. In `summary`, say in two sentences what the person wanted and how the conversation ended.";

/** What the analysis extracts from a conversation after it ends. */
export function AnalysisTab({ draft }: { draft: AgentDraft }) {
  const id = useId();
  const { values, set, errorAt } = draft;
  const source = useAnalysisSource(draft);
  const turn = (on: boolean) =>
    set({
      call_analysis_enabled: on,
      ...(on && !values.call_analysis_prompt && { call_analysis_prompt: { custom_prompt: FIRST_PROMPT } }),
    });
  const isOn = values.call_analysis_enabled ?? false;
  const [isMarkedOn, mark] = useShownFirst(isOn, turn);
  return (
    <Sections>
      <Section
        title="Analysis"
        description="After each conversation ends, a model reads it and fills in the fields you define."
      >
        <div className="flex items-center gap-3">
          <Switch id={id} checked={isMarkedOn} onChange={mark} />
          <label htmlFor={id}>Analyze conversations when they end</label>
        </div>
        <FieldError>{errorAt("call_analysis_enabled")}</FieldError>
      </Section>
      {(isOn || values.call_analysis_prompt) && (
        <>
          <Section title="Instructions" description="What to look for.">
            <PromptSource
              label="Instructions"
              type="analysis"
              source={source}
              onText={(text) => set({ call_analysis_prompt: text ? { custom_prompt: text } : null })}
              onShared={(prompt_name, which) => set({ call_analysis_prompt: { prompt_name, ...which } })}
              errors={{
                text: errorAt("call_analysis_prompt") ?? errorAt("call_analysis_prompt.custom_prompt"),
                name: errorAt("call_analysis_prompt.prompt_name"),
                version: errorAt("call_analysis_prompt.prompt_version") ?? errorAt("call_analysis_prompt.prompt_label"),
              }}
            />
          </Section>
          <Section title="Fields" description="If you define no fields, the analysis is a single summary.">
            <SchemaBuilder
              value={values.call_analysis_schema ?? {}}
              onChange={(schema) => set({ call_analysis_schema: Object.keys(schema).length === 0 ? null : schema })}
              errorAt={errorAt}
            />
          </Section>
        </>
      )}
    </Sections>
  );
}

/** The agent's own analysis prompt is stored under a name of its own; its text is read from there. */
function useAnalysisSource({ agent, values }: AgentDraft): Source {
  const given = values.call_analysis_prompt;
  const ownName = `${ownPromptName(agent.id)}-analysis`;
  const isStoredOwn = given?.prompt_name === ownName;
  const stored = useQuery({
    queryKey: [...PROMPTS, "one", ownName],
    queryFn: ({ signal }) => read(signal, "/v1/public/prompts/{prompt_name}", { path: { prompt_name: ownName } }),
    enabled: isStoredOwn,
  });
  if (given?.prompt_name && !isStoredOwn) return { kind: "shared", name: given.prompt_name, which: given };
  return { kind: "own", text: given?.custom_prompt ?? (isStoredOwn ? (stored.data?.prompt_content ?? "") : "") };
}
