import { invalid, type ServiceError } from "./errors.ts";

/** An object in an object takes three messages of protobuf, whose readers stop at 100 (protobuf.dev: recursion limit). */
const DEPTH_MAX = 32;

/**
 * Values of any kind in one document. Every hop copies each of them as an object of its own, so their number costs more than their
 * bytes: 300,000 empty arrays are 900 KB of text and keep a process busy for 200 ms.
 */
export const JSON_VALUES_MAX = 10_000;

/**
 * Refuses JSON that cannot be kept and given back as it came, or that has too many values.
 * @param whole what is being looked at, as a sentence begins: "The request body"
 * @param path where in it, "" at its top
 * @throws ServiceError invalid on a NUL character, a number beyond a double, NaN (one whose digits no double holds), nesting over 32 deep, a field
 *   named __proto__ or more than 10,000 values
 */
export function refuseUnstorable(value: unknown, whole: string, path = ""): void {
  refuse(value, { whole, valuesLeft: JSON_VALUES_MAX }, path, 0);
}

/** @param path the field that has too many, "" when it is the document itself */
export function tooManyValues(path: string, whole: string): ServiceError {
  return invalid(path, `${path === "" ? whole : path} must not have more than ${JSON_VALUES_MAX} values`);
}

function refuse(value: unknown, document: { whole: string; valuesLeft: number }, path: string, depth: number): void {
  const { whole } = document;
  if (--document.valuesLeft < 0) throw tooManyValues(path.split(".", 1)[0] ?? "", whole);
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalid(path, `${path} must not contain a NUL character`);
  } else if (typeof value === "number") {
    if (Number.isNaN(value)) throw invalid(path, `${path} must be text: a number with so many digits loses some`);
    if (!Number.isFinite(value)) throw invalid(path, `${path} must be a number that fits a double`);
  } else if (typeof value === "object" && value !== null) {
    if (depth >= DEPTH_MAX) throw invalid(path, `${whole} must not be nested more than ${DEPTH_MAX} levels deep`);
    for (const key in value) {
      if (key.includes("\0")) throw invalid(path, "A field name must not contain a NUL character");
      // Assigned to an object, as decoders do, it would be no field but the object's prototype.
      if (key === "__proto__") throw invalid(path, "A field name must not be __proto__");
      const item = (value as Record<string, unknown>)[key];
      refuse(item, document, path === "" ? key : `${path}.${key}`, depth + 1);
    }
  }
}
