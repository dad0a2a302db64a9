import type { Voice as VoiceMessage } from "@parley/proto/parley/agent/v1/agent.ts";
import { GENDERS } from "@parley/shared/domain/api-names";
import type { Voice } from "./catalogue.ts";

export function toVoiceMessage(voice: Omit<Voice, "models">, providerName: string): VoiceMessage {
  return {
    voiceId: voice.voiceId,
    name: voice.name,
    providerName,
    gender: GENDERS[voice.gender],
    language: voice.language,
    previewUrl: voice.previewUrl ?? undefined,
  };
}
