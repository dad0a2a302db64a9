import { Gender, type Voice } from "@parley/proto/parley/agent/v1/agent.ts";

const BY_NAME = { MALE: Gender.GENDER_MALE, FEMALE: Gender.GENDER_FEMALE, NEUTRAL: Gender.GENDER_NEUTRAL } as const;
const GENDERS: Readonly<Record<number, string>> = {
  [Gender.GENDER_MALE]: "MALE",
  [Gender.GENDER_FEMALE]: "FEMALE",
};

export function genderOf(name: "MALE" | "FEMALE" | "NEUTRAL" | undefined): Gender {
  return name === undefined ? Gender.GENDER_UNSPECIFIED : BY_NAME[name];
}

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

/** A page of voices (api.md: GET /voices). */
export function presentVoices(voices: readonly Voice[], total: number, page: { number: number; size: number }) {
  return {
    voices: voices.map(presentVoice),
    total_count: total,
    page: page.number,
    page_size: page.size,
    has_more: page.number * page.size < total,
  };
}
