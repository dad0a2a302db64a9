import { isObject, type JsonObject } from "@parley/shared/json/json-object";

/** The object in a field, an empty one if there is none. */
export function objectIn(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return isObject(value) ? value : {};
}

/** The text in a field, "" if there is none. */
export function textIn(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === "string" ? value : "";
}

/** The number in a field, null if there is none. */
export function numberIn(object: JsonObject, field: string): number | null {
  const value = object[field];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The objects of an array in a field. */
export function objectsIn(object: JsonObject, field: string): JsonObject[] {
  const value = object[field];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The bytes of base64 in a field, null if there are none. */
export function bytesIn(object: JsonObject, field: string): Uint8Array | null {
  const text = textIn(object, field);
  return text === "" ? null : Buffer.from(text, "base64");
}
