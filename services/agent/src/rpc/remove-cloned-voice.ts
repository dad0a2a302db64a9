import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { checkVoiceProvider } from "../catalogue/catalogue.ts";
import type { AgentContext } from "../context.ts";
import { deleteClonedVoice } from "../store/cloned-voices.ts";

export function removeClonedVoice(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["removeClonedVoice"]> {
  return async ({ ownerId, providerName, voiceId }) => {
    checkVoiceProvider(providerName);
    if (!(await deleteClonedVoice(ctx.db, { ownerId, providerName, voiceId }))) throw notFound("Voice");
    return {};
  };
}
