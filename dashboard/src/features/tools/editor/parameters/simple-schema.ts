export type Kind = "string" | "number" | "integer" | "boolean" | "array";

export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "string", label: "Text" },
  { value: "number", label: "Number" },
  { value: "integer", label: "Whole number" },
  { value: "boolean", label: "Yes or no" },
  { value: "array", label: "List" },
];

/** A JSON Schema that a small form can show: one value, or a list of such values. */
export interface SimpleSchema {
  kind: Kind;
  description: string;
  /** The only values of a text, or of a list's texts. */
  choices: readonly string[];
  /** What a list is made of. */
  items: Exclude<Kind, "array">;
}

/** Reads a schema; null if it has anything that the form does not show. */
export function simpleSchemaOf(schema: Readonly<Record<string, unknown>>): SimpleSchema | null {
  const { type, description = "", enum: choices, items, ...others } = schema;
  if (Object.keys(others).length > 0 || typeof description !== "string" || !isKind(type)) return null;
  if (type !== "array") {
    if (items !== undefined || (choices !== undefined && !(type === "string" && areTexts(choices)))) return null;
    return { kind: type, description, choices: (choices as string[] | undefined) ?? [], items: "string" };
  }
  if (choices !== undefined) return null;
  const item = simpleItemOf(items);
  return item && { kind: type, description, choices: item.choices, items: item.items };
}

function simpleItemOf(items: unknown): Pick<SimpleSchema, "choices" | "items"> | null {
  if (typeof items !== "object" || items === null) return null;
  const item = simpleSchemaOf(items as Record<string, unknown>);
  if (!item || item.kind === "array" || item.description !== "") return null;
  return { choices: item.choices, items: item.kind };
}

/** The JSON Schema of what the form shows. */
export function schemaOfSimple({ kind, description, choices, items }: SimpleSchema): Record<string, unknown> {
  const about = description === "" ? {} : { description };
  const values = choices.length > 0 ? { enum: [...choices] } : {};
  if (kind === "array") return { type: kind, ...about, items: { type: items, ...(items === "string" && values) } };
  return { type: kind, ...about, ...(kind === "string" && values) };
}

function isKind(type: unknown): type is Kind {
  return KINDS.some(({ value }) => value === type);
}

function areTexts(choices: unknown): choices is string[] {
  return Array.isArray(choices) && choices.every((each) => typeof each === "string");
}
