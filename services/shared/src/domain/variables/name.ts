// Normalization sorts a run of combining marks in quadratic time (160,000 alternating marks took 39 s), so a run is cut
// at the 30 of Unicode's Stream-Safe Text Format (UAX #15). U+FF9E and U+FF9F are letters that turn into such marks.
const MARKS_PAST_THE_LIMIT = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu;
/** Letters and marks that nobody sees, such as the variation selector behind many emoji. */
const UNSEEN = /(?=[\p{L}\p{M}])\p{Default_Ignorable_Code_Point}/gu;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * Returns the canonical key of a variable's name as a person wrote it: NFKC, lower case with ς as σ, every run of characters other
 * than the letters, marks and digits of any script replaced by one `_`, none leading or trailing. `""` means that it is no name:
 * it has no letter and no digit.
 */
export function normalizeVariableName(name: string): string {
  const composed = name.replace(UNSEEN, "").replace(MARKS_PAST_THE_LIMIT, "$1").normalize("NFKC");
  const lower = composed.toLowerCase();
  // Some lower-case letters are one character with a mark that capitals keep apart, such as ǰ.
  const key = (lower === composed ? lower : lower.normalize("NFKC"))
    // Both are the small letter of Σ (Unicode's CaseFolding.txt).
    .replaceAll("ς", "σ")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
  return LETTER_OR_DIGIT.test(key) ? key : "";
}

/** Whether a canonical key is reserved for the values that Parley sets (docs/live.md#system-variables). */
export function isSystemVariable(key: string): boolean {
  return key.startsWith("system_");
}
