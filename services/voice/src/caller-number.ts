/** How carriers and telephone networks say that a caller's number is withheld or unknown. */
const WITHHELD = [
  "anonymous",
  "blocked",
  "id unavailable",
  "no caller id",
  "no number",
  "not available",
  "out of area",
  "payphone",
  "private",
  "private caller",
  "private number",
  "restricted",
  "unavailable",
  "unknown",
  "unknown caller",
  "unknown number",
  "withheld",
];

/** The digits of the keys that have these letters (ITU-T E.161): some carriers write `anonymous` as +266696687. */
const KEYS = "22233344455566677778889999";
const WITHHELD_DIGITS = new Set(
  WITHHELD.map((words) => words.replace(/[a-z ]/g, (letter) => KEYS[letter.charCodeAt(0) - 97] ?? "")),
);

/** Whether a name or a user says that the caller withholds who it is. */
export function isWithheldName(name: string): boolean {
  return WITHHELD.includes(
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, " "),
  );
}

/** Whether digits spell such a name on the keys of a phone, with or without a country code of 1. */
export function isWithheldNumber(digits: string): boolean {
  return WITHHELD_DIGITS.has(digits) || WITHHELD_DIGITS.has(digits.replace(/^1/, ""));
}

/**
 * The number of a caller in E.164 form, as a carrier or a trunk reports it, with or without a plus.
 * @returns null if it is withheld, or is not a number in international form
 */
export function callerNumber(reported: string): string | null {
  const written = reported.replace(/[\s\p{Cf}]/gu, "");
  const digits = /^(?:\+|00)?([1-9]\d{6,14})$/.exec(written)?.[1];
  return digits === undefined || isWithheldNumber(digits) ? null : `+${digits}`;
}
