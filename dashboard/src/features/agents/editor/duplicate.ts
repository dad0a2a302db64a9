import { api } from "../../../api/client.ts";
import type { Agent, Changes } from "../agents.ts";
import { ownPromptName, storedValues } from "./draft.ts";

const NAME_MAX = 100;
const COPY = " (copy)";

/** Creates a copy of a stored agent, with its keys and texts of its own, but without its phone numbers. */
export async function duplicate(agent: Agent): Promise<Agent> {
  const { agent_mobile_number: _, call_analysis_prompt, ...values } = storedValues(agent);
  const body = {
    ...values,
    agent_name: `${[...agent.agent_name].slice(0, NAME_MAX - COPY.length).join("")}${COPY}`,
    agent_type: agent.agent_type,
    call_analysis_prompt: await copiedAnalysis(agent, call_analysis_prompt),
  };
  return api.POST("/v1/public/agents", { params: { query: { copy_of: agent.id } }, body: body as never });
}

async function copiedAnalysis({ id }: Agent, prompt: Changes["call_analysis_prompt"]) {
  const name = `${ownPromptName(id)}-analysis`;
  if (prompt?.prompt_name !== name) return prompt;
  const params = { path: { prompt_name: name } };
  const { prompt_content } = await api.GET("/v1/public/prompts/{prompt_name}", { params });
  return { custom_prompt: prompt_content };
}
