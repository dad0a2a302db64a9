/** The languages for which Postgres has a stemmer and stop words, by ISO 639-1 code: the names of its configurations. */
const STEMMED: Readonly<Record<string, string>> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  ne: "nepali",
  nl: "dutch",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/** The language of a text in which none was recognised. */
export const UNKNOWN_LANGUAGE = "und";

/** The dictionary of Postgres that stems a language's words; null where words count as they are. */
export function dictionaryOf(language: string): string | null {
  const name = STEMMED[language];
  return name === undefined ? null : `${name}_stem`;
}

const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** Whether a code is a language's of ISO 639-1, such as `de`. */
export function isLanguage(code: string): boolean {
  return /^[a-z]{2}$/.test(code) && NAMES.of(code) !== undefined;
}
