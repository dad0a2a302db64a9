/** The value of what someone typed: JSON if it is, else the text itself. */
export function constantOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What to type for a value: a text as it is, unless it would be read as JSON. */
export function textOfConstant(value: unknown): string {
  if (typeof value === "string" && constantOf(value) === value) return value;
  return JSON.stringify(value) ?? "";
}

/** The JSON object in a text; null if it has none. */
export function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
