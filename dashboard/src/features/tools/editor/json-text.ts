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
