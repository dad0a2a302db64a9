import { notFound } from "@parley/shared/errors";
import { checkVoiceProvider } from "../catalogue/catalogue.ts";
import type { AgentContext, Handler } from "../context.ts";
import { deleteClonedVoice } from "../store/cloned-voices.ts";

export function removeClonedVoice(ctx: AgentContext): Handler<"removeClonedVoice"> {
  return async ({ ownerId, providerName, voiceId }) => {
    checkVoiceProvider(providerName);
    if (!(await deleteClonedVoice(ctx.db, { ownerId, providerName, voiceId }))) throw notFound("Voice");
    return {};
  };
}
