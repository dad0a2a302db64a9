/** A phone number without the separators between its digits. */
export function plainNumber(text: string): string {
  return text.replaceAll(/[\s()-]/g, "");
}
