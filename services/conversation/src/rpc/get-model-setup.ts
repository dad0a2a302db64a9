import type { ConversationConfig } from "../config.ts";
import type { Handler } from "../context.ts";
import { providerSetups } from "../model/providers.ts";

/** The same for all owners: what the operator has set up. */
export function getModelSetup(
  config: Pick<ConversationConfig, "credentials" | "PARLEY_DEFAULT_LLM">,
): Handler<"getModelSetup"> {
  const setup = { llm: providerSetups(config.credentials), defaultLlm: config.PARLEY_DEFAULT_LLM };
  return async () => setup;
}
