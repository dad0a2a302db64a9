import { isObject } from "../../json/json-object.ts";
import { normalizeVariableName } from "./name.ts";

export type VariableValue = string | number | boolean;

/**
 * Returns the values in a chat's metadata by canonical key: those of `metadata.dynamic_variables`, then the strings, numbers and
 * booleans at its top level. Of two names with the same key the first wins (docs/api-reference.md#dynamic-variables). Because keys are
 * canonical, a later message's values merge as `{ ...earlier, ...later }`.
 */
export function collectValues(metadata: Readonly<Record<string, unknown>>): Record<string, VariableValue> {
  const named = metadata.dynamic_variables;
  return Object.fromEntries(byCanonicalKey(isObject(named) ? named : {}, metadata));
}

/** The strings, numbers and booleans of the records, by canonical key; the first of each key wins. */
export function byCanonicalKey(...records: readonly object[]): Map<string, VariableValue> {
  const values = new Map<string, VariableValue>();
  for (const [name, value] of records.flatMap((record) => Object.entries(record))) {
    const key = normalizeVariableName(name);
    if (key !== "" && !values.has(key) && isVariableValue(value)) values.set(key, value);
  }
  return values;
}

function isVariableValue(value: unknown): value is VariableValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
