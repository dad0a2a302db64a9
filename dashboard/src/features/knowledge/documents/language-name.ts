import { LOCALE } from "../../../ui/locale.ts";
import { onFirstUse } from "../../../ui/numbers.ts";

const names = onFirstUse(() => new Intl.DisplayNames(LOCALE, { type: "language" }));

/** The English name of a language. @param code of ISO 639-1 */
export function languageName(code: string): string {
  return names().of(code) ?? code;
}
