/** The text with its last line ended like the others: otherwise a line that is added after it would mark it as changed too. */
export function wholeLines(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
