import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { getDraft } from "../drafts/get-draft.ts";
import { openSpeech } from "../model-keys/speech-secrets.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";

/**
 * Returns how an agent hears and speaks, with keys in plain text. @throws ServiceError condition if a key cannot be
 * opened
 */
export function getSpeech(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getSpeech"]> {
  return async ({ ownerId, agentId, draftId }) => {
    checkAgentId(agentId);
    const row =
      draftId === undefined
        ? await getAgentRow(ctx.db, { ownerId, agentId })
        : (await getDraft(ctx, { ownerId, agentId, draftId })).row;
    return {
      stt: row.stt ? openSpeech("stt", row.stt, ctx.modelKeys, row) : undefined,
      tts: row.tts ? openSpeech("tts", row.tts, ctx.modelKeys, row) : undefined,
      sts: row.sts ?? undefined,
      mobileNumbers: row.agentMobileNumbers,
    };
  };
}
