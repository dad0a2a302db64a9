import type { AgentRuntime, LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";

/** The model that an agent is configured with. @throws ServiceError condition when it has none, or one whose key is lost */
export function llmOf({ llm, unreadableKey }: AgentRuntime): LlmConfig {
  if (unreadableKey) {
    throw new ServiceError("condition", `The agent's ${unreadableKey} cannot be read any more: set it again`);
  }
  if (!llm) throw new ServiceError("condition", "Agent has no LLM configuration");
  return llm;
}
