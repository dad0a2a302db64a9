/** Whether a text is a well-formed BCP 47 tag (RFC 5646). */
export function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/** Whether a tag matches a range by RFC 4647's basic filtering: `en` covers en-US. Ignores case. */
export function isInLanguage(tag: string, range: string): boolean {
  return `${tag}-`.toLowerCase().startsWith(`${range}-`.toLowerCase());
}
