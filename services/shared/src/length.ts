/** Returns whether a text has more than `max` characters, counted in code points like every length of the API. */
export function isLonger(text: string, max: number): boolean {
  // UTF-16 has at least as many units, and knows their number without counting.
  return text.length > max && [...text].length > max;
}
