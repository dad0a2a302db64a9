const NAMES = new Intl.DisplayNames("en", { type: "language" });

/** A BCP 47 tag in its canonical form, null for anything else: a model's word for a language goes back into its prompt. */
export function parseLanguage(given: unknown): string | null {
  if (typeof given !== "string" || given.length > 50) return null;
  try {
    return Intl.getCanonicalLocales(given.trim())[0] ?? null;
  } catch {
    return null;
  }
}

/** As a model understands it: "Spanish (es)". @param tag of parseLanguage */
export function languageName(tag: string): string {
  const name = NAMES.of(tag);
  return name === undefined || name === tag ? tag : `${name} (${tag})`;
}

/** What the model is told in every further turn of a session whose language was set. */
export function languageNote(tag: string): string {
  return `The language of this conversation was set to ${languageName(tag)}. Answer in it until it is set again.`;
}
