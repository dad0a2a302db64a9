import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationConfig } from "../config.ts";
import { providerSetups } from "../model/providers.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getModelSetup"]>;

/** The same for all owners: what the operator has set up. */
export function getModelSetup(config: Pick<ConversationConfig, "credentials" | "PARLEY_DEFAULT_LLM">): Handler {
  const setup = { llm: providerSetups(config.credentials), defaultLlm: config.PARLEY_DEFAULT_LLM };
  return async () => setup;
}
