import type { Api } from "./api.ts";
import type { ScriptedModel } from "./scripted-model.ts";

/** Texts that no log and no trace may contain. */
export const SCRIPTED_KEY = "sk-scripted-0123456789";
export const PROMPT_TEXT = "Be brief.";

/** The `llm` of an agent that a scripted model answers for. */
export function llmOf(model: Pick<ScriptedModel, "baseUrl">) {
  return {
    provider_name: "CUSTOM_LLM",
    model_name: "scripted",
    params: { base_url: model.baseUrl, api_key: SCRIPTED_KEY },
  };
}

/** Creates an agent that a scripted model answers for. @returns its id */
export async function createAgent(
  api: Api,
  model: Pick<ScriptedModel, "baseUrl">,
  fields: object = {},
): Promise<string> {
  const body = { agent_name: "Front desk", agent_type: "INBOUND", prompt_content: PROMPT_TEXT, llm: llmOf(model) };
  const answer = await api.post("/agents", { ...body, ...fields });
  if (answer.status !== 200) throw new Error(`no agent: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}
