/** Returns whether a text has more than `max` characters, counted in code points like every length of the API. */
export function isLonger(text: string, max: number): boolean {
  // Checks the UTF-16 length first, which is never smaller and needs no counting.
  return text.length > max && codePoints(text) > max;
}

/** Returns the number of code points in a text, which is how the API counts lengths. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The characters of all texts in a value, counted no further than `max`. */
export function charactersOf(value: unknown, max: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let characters = 0;
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) {
    characters += charactersOf(inner, max - characters);
    if (characters >= max) return max;
  }
  return characters;
}
