import type { AgentRuntime, LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";

/** The agent's model. @throws ServiceError condition if it has none, or if the model's key is lost */
export function llmOf({ llm, unreadableKey }: AgentRuntime): LlmConfig {
  if (unreadableKey) {
    throw new ServiceError("condition", `The agent's ${unreadableKey} can no longer be read: set it again`);
  }
  if (!llm) throw new ServiceError("condition", "Agent has no LLM configuration");
  return llm;
}
