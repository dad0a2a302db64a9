const NAMES = new Intl.DisplayNames("en", { type: "language" });

/** Returns a BCP 47 tag in canonical form, null for anything else. What a model calls a language goes into its prompt. */
export function parseLanguage(given: unknown): string | null {
  if (typeof given !== "string" || given.length > 50) return null;
  try {
    return Intl.getCanonicalLocales(given.trim())[0] ?? null;
  } catch {
    return null;
  }
}

/** The language as a model understands it: "Spanish (es)". @param tag from parseLanguage */
export function languageName(tag: string): string {
  const name = NAMES.of(tag);
  return name === undefined || name === tag ? tag : `${name} (${tag})`;
}

/** The instruction for the model in all later turns of a session whose language was set. */
export function languageNote(tag: string): string {
  return `The language of this conversation was set to ${languageName(tag)}. Answer in it until it is set again.`;
}
