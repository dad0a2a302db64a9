/** Whether a text has more characters than that: code points, as everywhere (decisions.md: HTTP conventions). */
export function isLonger(text: string, max: number): boolean {
  // UTF-16 has at least as many units, and knows their number without counting.
  return text.length > max && [...text].length > max;
}
