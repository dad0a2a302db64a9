// Readers of other systems' JSON.

/** The field, if the value is an object that has it. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The text of a field; empty if it is not one. */
export function textOf(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  return typeof text === "string" ? text : "";
}

/** The items of a field; none if it is not a list. */
export function listOf(value: unknown, name: string): unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list : [];
}
