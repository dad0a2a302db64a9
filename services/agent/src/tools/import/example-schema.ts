import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import { isSecretName } from "./names.ts";
import { Unusable } from "./unusable.ts";

const LEVELS_MAX = 8;

/**
 * The JSON Schema of values like this one, with it as example.
 * @param isText whether the value is from a query, where a number is text as well @throws Unusable for one with too many levels
 */
export function exampleSchema(value: unknown, isText = false, level = 1): JsonObject {
  if (level > LEVELS_MAX) throw new Unusable(`The body has more than ${LEVELS_MAX} levels`);
  if (Array.isArray(value))
    return { type: "array", items: value.length > 0 ? exampleSchema(value[0], false, level + 1) : {} };
  if (isObject(value)) {
    const fields = Object.entries(value);
    const properties = fields.map(([name, field]) => [
      name,
      isSecretName(name) ? { type: typeOf(field) } : exampleSchema(field, false, level + 1),
    ]);
    return { type: "object", properties: Object.fromEntries(properties), required: fields.map(([name]) => name) };
  }
  if (value === null) return {};
  if (isText && typeof value === "string" && /^-?\d{1,15}$/.test(value))
    return { type: "integer", examples: [Number(value)] };
  return { type: typeOf(value), examples: [value] };
}

function typeOf(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}
