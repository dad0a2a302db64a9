import { type Schema, Validator } from "@cfworker/json-schema";
import { isObject } from "@parley/shared/json/json-object";
import type { ModelTool, ToolCall } from "../model/port.ts";

/** What of a wrong value is told to the model. */
const REASON_MAX = 500;
const VALIDATORS = new WeakMap<object, Validator>();

/** Why a tool cannot be called with these arguments, for the model; null if they fit its schema. */
export function argumentsFault({ input, json }: ToolCall, { inputSchema }: ModelTool): string | null {
  if (!input) return `The arguments are not a JSON object: ${json.slice(0, REASON_MAX)}`;
  const { valid, errors } = validatorOf(inputSchema).validate(input);
  if (valid) return null;
  // The last error is about the innermost value.
  const { instanceLocation, error } = errors.at(-1) ?? { instanceLocation: "#", error: "They do not fit the schema." };
  const place = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  return `The arguments are wrong${place === "" ? "" : ` at ${place}`}: ${error.slice(0, REASON_MAX)} Nothing was called. Correct them and call the tool again.`;
}

function validatorOf(schema: ModelTool["inputSchema"]): Validator {
  const known = VALIDATORS.get(schema);
  if (known) return known;
  const validator = new Validator(boundedSchema(schema) as Schema, "2020-12");
  VALIDATORS.set(schema, validator);
  return validator;
}

/**
 * The part of a stranger's schema that is checked here in bounded time, because a regular expression can take minutes and a reference
 * can lead around in a circle. The server that the schema came from checks the rest.
 */
function boundedSchema(schema: ModelTool["inputSchema"]): object {
  if (isBounded(schema)) return schema;
  const { type, required, properties, patternProperties, additionalProperties } = schema;
  const named = isObject(properties) ? Object.entries(properties) : [];
  return {
    type,
    ...(Array.isArray(required) && { required }),
    properties: Object.fromEntries(named.map(([name, inner]) => [name, isBounded(inner) ? inner : true])),
    ...(additionalProperties === false && !patternProperties && { additionalProperties }),
  };
}

function isBounded(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return true;
  const { pattern, patternProperties, $ref, $dynamicRef, $recursiveRef } = schema as Record<string, unknown>;
  const isOwn = [pattern, $ref, $dynamicRef, $recursiveRef].every((value) => typeof value !== "string");
  return isOwn && !patternProperties && Object.values(schema).every(isBounded);
}
