/**
 * An array parameter of values that need no quotes: ids, numbers, ISO times and words of our own, not empty and without white space,
 * commas, quotes, backslashes or braces. The driver would quote each value and look for characters to escape: 0.3 µs for each.
 */
export function plainArray(values: readonly (string | number | null)[]): string {
  return `{${values.map((value) => value ?? "null").join(",")}}`;
}
