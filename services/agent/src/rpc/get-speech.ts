import type { AgentContext, Handler } from "../context.ts";
import { getDraft } from "../drafts/get-draft.ts";
import { openSpeech } from "../model-keys/speech-secrets.ts";
import { checkAgentId, getVersion } from "../read-agents.ts";

/**
 * Returns how a version of an agent hears and speaks, with keys in plain text.
 * @throws ServiceError condition if a key cannot be opened, conflict if no version is published
 */
export function getSpeech(ctx: AgentContext): Handler<"getSpeech"> {
  return async ({ ownerId, agentId, draftId, agentVersion }) => {
    checkAgentId(agentId);
    const row =
      draftId === undefined
        ? (await getVersion(ctx.db, { ownerId, agentId }, agentVersion)).row
        : (await getDraft(ctx, { ownerId, agentId, draftId })).row;
    return {
      stt: row.stt ? openSpeech("stt", row.stt, ctx.modelKeys, row) : undefined,
      tts: row.tts ? openSpeech("tts", row.tts, ctx.modelKeys, row) : undefined,
      sts: row.sts ?? undefined,
    };
  };
}
