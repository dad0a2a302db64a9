/** A phone number without what people put between its digits. */
export function plainNumber(text: string): string {
  return text.replaceAll(/[\s()-]/g, "");
}
