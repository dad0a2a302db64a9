// Normalization sorts a run of combining marks in quadratic time (160,000 alternating marks took 39 s), so a run is cut
// at the 30 of Unicode's Stream-Safe Text Format (UAX #15). U+FF9E and U+FF9F are letters that turn into such marks.
const MARKS_PAST_THE_LIMIT = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu;

/**
 * Returns the canonical key of a variable's name as a person wrote it: NFKC, lower case, every run of characters outside
 * `[a-z0-9]` replaced by one `_`, none leading or trailing. `""` means that it is no name.
 */
export function normalizeVariableName(name: string): string {
  return name
    .replace(MARKS_PAST_THE_LIMIT, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");
}
