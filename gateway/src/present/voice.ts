import type { Voice } from "@parley/proto/parley/agent/v1/agent.ts";
import { GENDERS, nameOf } from "@parley/shared/domain/api-names";

/** A voice as the API shows it (docs/api-reference.md#catalogue-and-voices). */
export function presentVoice(voice: Voice) {
  return {
    id: voice.voiceId,
    name: voice.name,
    provider: voice.providerName,
    gender: nameOf(GENDERS, voice.gender),
    language: voice.language,
    preview_url: voice.previewUrl ?? null,
  };
}

/** The response of `GET /voices`. */
export function presentVoices(voices: readonly Voice[], total: number, page: { number: number; size: number }) {
  return {
    voices: voices.map(presentVoice),
    total_count: total,
    page: page.number,
    page_size: page.size,
    has_more: page.number * page.size < total,
  };
}
