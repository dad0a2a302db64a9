import { type FieldType, parseNotation, toJsonSchema } from "@parley/shared/domain/analysis/notation";

/** One field of an agent's `call_analysis_schema` (docs/api-reference.md#analysis-settings). */
export interface AnalysisField {
  name: string;
  /** The field's type, as the owner wrote it. */
  notation: string;
  type: FieldType;
  /** The property name that the model sees. */
  key: string;
}

/** Property names that every provider accepts. */
const KEY = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The fields of a stored schema; empty when the agent has no schema or an empty one.
 * @throws NotationError for a type that the agent service should have refused
 */
export function analysisFields(schema: Readonly<Record<string, unknown>> | undefined): AnalysisField[] {
  const names = new Set(Object.keys(schema ?? {}));
  return [...names].map((name, at) => {
    const notation = String((schema?.[name] as { type?: unknown } | null)?.type);
    return { name, notation, type: parseNotation(notation), key: KEY.test(name) ? name : freeKey(names, at) };
  });
}

function freeKey(names: ReadonlySet<string>, at: number): string {
  let key = `field_${at + 1}`;
  while (names.has(key)) key += "_";
  return key;
}

/** The JSON Schema of an object with every field required and no others, as OpenAI's strict structured output demands. */
export function answerSchema(fields: readonly AnalysisField[]): Record<string, unknown> {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.key, propertyOf(field)])),
    required: fields.map(({ key }) => key),
    additionalProperties: false,
  };
}

function propertyOf({ name, key, type }: AnalysisField): Record<string, unknown> {
  return { ...(key !== name && { description: name }), ...toJsonSchema(type) };
}
