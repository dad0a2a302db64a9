import { type Schema, Validator } from "@cfworker/json-schema";
import { isObject } from "@parley/shared/json/json-object";
import type { ModelTool, ToolCall } from "../model/port.ts";

/** What of a wrong value is told to the model. */
const REASON_MAX = 500;
/** Limit for the values of the arguments times those of the schema, each of which may be checked with each: about a second. */
const CHECKS_MAX = 5_000_000;
const VALIDATORS = new WeakMap<object, Validator>();

/** Why a tool cannot be called with these arguments, for the model; null if they fit its schema. */
export function argumentsFault({ input, json }: ToolCall, { inputSchema }: ModelTool): string | null {
  if (!input) return `The arguments are not a JSON object: ${json.slice(0, REASON_MAX)}`;
  if (checksOf(input, inputSchema) > CHECKS_MAX)
    return "The arguments have too many values to be checked. Nothing was called. Call the tool with fewer.";
  const { valid, errors } = validatorOf(inputSchema).validate(input);
  if (valid) return null;
  // The last error is about the innermost value.
  const { instanceLocation, keyword, error } = errors.at(-1) ?? NO_REASON;
  const place = instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  const reason = keyword === "false" ? "The tool does not have this argument." : error.slice(0, REASON_MAX);
  return `The arguments are wrong${place === "" ? "" : ` at ${place}`}: ${reason} Nothing was called. Correct them and call the tool again.`;
}

const NO_REASON = { instanceLocation: "#", keyword: "", error: "They do not fit the schema." };

function checksOf(input: object, schema: object): number {
  const given = valuesOf(input);
  // The validator compares each item of a unique list with each other one.
  return given * (valuesOf(schema) + (isUnique(schema) ? given : 0));
}

/** Without recursion, because a model may nest lists deeper than the stack goes. */
function valuesOf(value: unknown): number {
  const waiting = [value];
  let values = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    values++;
    if (typeof next === "object" && next !== null) for (const inner of Object.values(next)) waiting.push(inner);
  }
  return values;
}

function isUnique(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  return ("uniqueItems" in schema && schema.uniqueItems !== false) || Object.values(schema).some(isUnique);
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
