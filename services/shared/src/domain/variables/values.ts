import { invalid } from "../../errors.ts";
import { isObject } from "../../json/json-object.ts";
import { isSystemVariable, normalizeVariableName } from "./name.ts";

/** A JSON value other than null. */
export type VariableValue = string | number | boolean | readonly unknown[] | { readonly [name: string]: unknown };

/** Of a list or an object, as JSON. */
const STRUCTURE_BYTES_MAX = 16 * 1024;

/**
 * Returns the values in a chat's metadata by canonical key: those of `metadata.dynamic_variables`, then the strings, numbers and
 * booleans at its top level. Of two names with the same key the first wins (docs/api-reference.md#dynamic-variables). Because keys are
 * canonical, a later message's values merge as `{ ...earlier, ...later }`. Values for system variables are left out.
 * @throws ServiceError invalid for a list or an object of more than 16 KiB
 */
export function collectValues(metadata: Readonly<Record<string, unknown>>): Record<string, VariableValue> {
  return Object.fromEntries(Object.entries(collectAllValues(metadata)).filter(([key]) => !isSystemVariable(key)));
}

/** The same with those for system variables, to try something with. @throws as `collectValues` */
export function collectAllValues(metadata: Readonly<Record<string, unknown>>): Record<string, VariableValue> {
  const named = isObject(metadata.dynamic_variables) ? metadata.dynamic_variables : {};
  for (const [name, value] of Object.entries(named)) {
    const field = `dynamic_variables.${name}`;
    if (isTooLongForVariable(value)) throw invalid(field, `${field} must be at most 16 KiB of JSON`);
  }
  const plain = Object.entries(metadata).filter(([, value]) => typeof value !== "object");
  return Object.fromEntries(byCanonicalKey(named, Object.fromEntries(plain)));
}

/** The values of the records, by canonical key; the first of each key wins. */
export function byCanonicalKey(...records: readonly object[]): Map<string, VariableValue> {
  const values = new Map<string, VariableValue>();
  for (const [name, value] of records.flatMap((record) => Object.entries(record))) {
    const key = normalizeVariableName(name);
    if (key !== "" && !values.has(key) && isVariableValue(value)) values.set(key, value);
  }
  return values;
}

/** A value as it stands in a text: a list and an object as JSON. */
export function textOfValue(value: VariableValue): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function isVariableValue(value: unknown): value is VariableValue {
  return value !== null && ["string", "number", "boolean", "object"].includes(typeof value);
}

/** Whether a value is a list or an object of more than 16 KiB of JSON, which no variable can hold. */
export function isTooLongForVariable(value: unknown): boolean {
  return typeof value === "object" && Buffer.byteLength(JSON.stringify(value)) > STRUCTURE_BYTES_MAX;
}
