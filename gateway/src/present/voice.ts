import { Gender, type Voice } from "@parley/proto/parley/agent/v1/agent.ts";

const GENDERS: Readonly<Record<number, string>> = {
  [Gender.GENDER_MALE]: "MALE",
  [Gender.GENDER_FEMALE]: "FEMALE",
};

/** api.md: Voice. */
export function presentVoice(voice: Voice) {
  return {
    id: voice.voiceId,
    name: voice.name,
    provider: voice.providerName,
    gender: GENDERS[voice.gender] ?? "NEUTRAL",
    language: voice.language,
    preview_url: voice.previewUrl ?? null,
  };
}
