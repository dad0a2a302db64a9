/** A LIKE pattern for texts that contain this one, its wildcards meant literally. */
export function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
