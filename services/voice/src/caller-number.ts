/** How carriers and telephone networks say that a caller withholds the number. */
const HIDDEN = [
  "anonymous",
  "anonymous caller",
  "anonymous user",
  "blocked",
  "caller id blocked",
  "no caller id",
  "number withheld",
  "private",
  "private caller",
  "private number",
  "restricted",
  "restricted number",
  "withheld",
  "withheld number",
];
/** How they say that they do not know the number, or, beside a number, only the name. */
const UNKNOWN = [
  "id unavailable",
  "no number",
  "not available",
  "out of area",
  "payphone",
  "unavailable",
  "unknown",
  "unknown caller",
  "unknown number",
];

/** The digits of the keys that have these letters (ITU-T E.161): some carriers write `anonymous` as +266696687. */
const KEYS = "22233344455566677778889999";
const WITHHELD_DIGITS = new Set(
  [...HIDDEN, ...UNKNOWN].map((words) => words.replace(/[a-z ]/g, (letter) => KEYS[letter.charCodeAt(0) - 97] ?? "")),
);

/** Whether the name beside a number says that the caller withholds who it is. */
export function isWithheldName(name: string): boolean {
  return HIDDEN.includes(plainWords(name));
}

/** Whether what stands in place of a number says that there is none. */
export function isWithheldUser(user: string): boolean {
  return [...HIDDEN, ...UNKNOWN].includes(plainWords(user));
}

function plainWords(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, " ");
}

/** Whether digits spell such a name on the keys of a phone, with or without a country code of 1, or are zeros behind one. */
export function isWithheldNumber(digits: string): boolean {
  const national = digits.replace(/^1/, "");
  return WITHHELD_DIGITS.has(digits) || WITHHELD_DIGITS.has(national) || /^0+$/.test(national);
}

/**
 * The number of a caller in E.164 form, as a carrier or a trunk reports it, with or without a plus.
 * @returns null if it is withheld, or is not a number in international form
 */
export function callerNumber(reported: string): string | null {
  const written = reported.replace(/[\s\p{Cf}().-]/gu, "");
  const digits = /^(?:\+|00)?([1-9]\d{6,14})$/.exec(written)?.[1];
  return digits === undefined || isWithheldNumber(digits) ? null : `+${digits}`;
}
