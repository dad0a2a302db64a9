import { Gender, type Voice as VoiceMessage } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Voice } from "./catalogue.ts";

const GENDERS = {
  MALE: Gender.GENDER_MALE,
  FEMALE: Gender.GENDER_FEMALE,
  NEUTRAL: Gender.GENDER_NEUTRAL,
} as const;

/** Null for unspecified. */
export function genderName(gender: Gender): Voice["gender"] | null {
  switch (gender) {
    case Gender.GENDER_MALE:
      return "MALE";
    case Gender.GENDER_FEMALE:
      return "FEMALE";
    case Gender.GENDER_NEUTRAL:
      return "NEUTRAL";
    default:
      return null;
  }
}

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
