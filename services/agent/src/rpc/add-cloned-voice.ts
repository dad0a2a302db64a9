import { Voice } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { readClonedVoice } from "../catalogue/cloned-voice.ts";
import { toVoiceMessage } from "../catalogue/convert.ts";
import type { AgentContext, Handler } from "../context.ts";
import { insertClonedVoice, listClonedVoices, lockClonedVoices } from "../store/cloned-voices.ts";

/** Per owner and provider, because each list of voices reads them all. */
const VOICES_MAX = 1_000;

export function addClonedVoice(ctx: AgentContext): Handler<"addClonedVoice"> {
  return async ({ ownerId, voice: given = Voice.fromPartial({}) }) => {
    const voice = readClonedVoice(given);
    const { providerName } = given;
    const isShared = ctx.catalogue.voices[providerName]?.some(({ voiceId }) => voiceId === voice.voiceId);
    if (isShared) throw taken(voice.voiceId, "is a voice of the catalogue, which every account has");
    await ctx.db.begin(async (tx) => {
      await lockClonedVoices(tx, ownerId);
      const owned = await listClonedVoices(tx, ownerId, providerName);
      if (owned.some(({ voiceId }) => voiceId === voice.voiceId)) {
        throw taken(voice.voiceId, "was added before: remove it first");
      }
      if (owned.length >= VOICES_MAX) {
        throw new ServiceError(
          "conflict",
          `There are ${VOICES_MAX} cloned voices of ${providerName}: remove one first`,
        );
      }
      await insertClonedVoice(tx, { ownerId, providerName, voiceId: voice.voiceId }, voice, ctx.clock.now());
    });
    return { voice: toVoiceMessage(voice, providerName) };
  };
}

function taken(voiceId: string, why: string): ServiceError {
  return new ServiceError("conflict", `voice_id ${voiceId} ${why}`);
}
