import { afterAll } from "bun:test";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

/** The time that a model has: on a busy machine, half of it must be enough for three attempts. */
const MODEL_MS = "3000";
const env = {
  PARLEY_LLM_DEADLINE_MS: MODEL_MS,
  PARLEY_LLM_STALL_MS: MODEL_MS,
  PARLEY_LLM_RETRY_MS: "1",
  PARLEY_TURN_LEASE_MS: "1500",
};

export const [stack, model] = await Promise.all([
  startTestStack({ env, postgres: "embedded", without: BESIDES_CHATS }),
  startScriptedModel(),
]);
export const api = stack.api(stack.owners[0].apiKey);
export const agentId = await createAgent(api, model);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});
