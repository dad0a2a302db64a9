import { type Schema, Validator } from "@cfworker/json-schema";
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
  const validator = new Validator(schema as Schema, "2020-12");
  VALIDATORS.set(schema, validator);
  return validator;
}
