/** Returns whether a text has more than `max` characters, counted in code points like every length of the API. */
export function isLonger(text: string, max: number): boolean {
  // Checks the UTF-16 length first, which is never smaller and needs no counting.
  return text.length > max && [...text].length > max;
}
