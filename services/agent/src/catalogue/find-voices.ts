import type { Voice } from "./catalogue.ts";
import { isInLanguage } from "./language.ts";

/** The voices to find; empty texts and null do not filter. */
export interface VoiceFilter {
  /** `en` covers en-US. */
  language: string;
  gender: Voice["gender"] | null;
  /** A substring of the name. Name and language match in any letter case. */
  search: string;
  modelName: string;
}

export function findVoices(voices: readonly Voice[], filter: VoiceFilter): Voice[] {
  const search = filter.search.toLowerCase();
  return voices.filter(
    ({ name, gender, language, models }) =>
      (filter.language === "" || isInLanguage(language, filter.language)) &&
      (filter.gender === null || gender === filter.gender) &&
      name.toLowerCase().includes(search) &&
      (filter.modelName === "" || models === null || models.includes(filter.modelName)),
  );
}
