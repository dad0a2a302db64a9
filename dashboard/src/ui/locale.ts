/** The page is in English, and so are its dates and numbers: in the viewer's kind of English if the browser names one. */
export const LOCALE = englishOf(globalThis.navigator?.languages ?? []);

export function englishOf(languages: readonly string[]): string {
  return languages.find((language) => /^en\b/i.test(language)) ?? "en";
}
