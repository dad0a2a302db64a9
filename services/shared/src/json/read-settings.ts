import { isObject, type JsonObject } from "./json-object.ts";

/** Reads a variable with a part of an agent, in the form of the API. @throws Error saying what is wrong */
export function readSettings(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error("must be a JSON object, as in an agent");
  return value;
}

/** The text that a setting must have. @throws Error naming it */
export function requiredText(settings: JsonObject, name: string): string {
  const value = settings[name];
  if (typeof value !== "string" || value === "") throw new Error(`must have ${name}`);
  return value;
}
