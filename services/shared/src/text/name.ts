import { invalid } from "../errors.ts";
import { isLonger } from "./length.ts";

/** Of most names, in characters. */
export const NAME_MAX = 100;

const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
const BREAKS = /[\s\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu;
/** Spaces and format characters, such as joiners, are invisible by themselves. */
const VISIBLE = /[^\p{Z}\p{Cf}\p{Cc}]/u;

/**
 * Returns why a text cannot be the name of anything, as the end of a sentence that begins with the field, or null if it can
 * (docs/api-reference.md#request-bodies).
 * @param lengthMax in characters
 */
export function nameFault(name: string, lengthMax = NAME_MAX): string | null {
  if (name === "" || isLonger(name, lengthMax)) return `must be 1 to ${lengthMax} characters`;
  if (!isVisible(name)) return "must not be blank";
  if (UNPRINTABLE.test(name)) return "must be printable characters only";
  return null;
}

/** @param path the name's field in the request @throws ServiceError invalid */
export function checkName(path: string, name: string, lengthMax?: number): void {
  const fault = nameFault(name, lengthMax);
  if (fault) throw invalid(path, `${path} ${fault}`);
}

/** The beginning of a text as a name, or null if it shows nothing. @param lengthMax in characters */
export function nameOfText(text: string, lengthMax = NAME_MAX): string | null {
  const line = text.replace(BREAKS, " ").trim();
  if (!isVisible(line)) return null;
  return isLonger(line, lengthMax)
    ? `${[...line]
        .slice(0, lengthMax - 1)
        .join("")
        .trimEnd()}…`
    : line;
}

/** Whether a text shows anything to a reader. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
