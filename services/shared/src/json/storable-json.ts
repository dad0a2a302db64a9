import { invalid, type ServiceError } from "../errors.ts";

/** Each nested object takes three protobuf messages, and readers stop at 100 (protobuf.dev: recursion limit). */
const DEPTH_MAX = 32;

/**
 * Limit for values of any kind in one document. Every hop copies each as a separate object, so their number costs more
 * than their bytes: 300,000 empty arrays are 900 KB of text and block a process for 200 ms.
 */
export const JSON_VALUES_MAX = 10_000;

/**
 * Refuses JSON that cannot be stored and returned unchanged, or that has too many values.
 * @param whole names the document at the start of a sentence: "The request body"
 * @param path where in it, "" at the top
 * @throws ServiceError invalid for a NUL character, a number beyond a double, NaN (which stands for a number with more
 *   digits than a double holds), nesting over 32 levels, a field named __proto__ or more than `valuesMax` values
 */
export function refuseUnstorable(value: unknown, whole: string, path = "", valuesMax = JSON_VALUES_MAX): void {
  refuse(value, { whole, valuesMax, valuesLeft: valuesMax }, path, 0);
}

/** @param path the field with too many values, "" for the document itself */
export function tooManyValues(path: string, whole: string, valuesMax = JSON_VALUES_MAX): ServiceError {
  return invalid(path, `${path === "" ? whole : path} must not have more than ${valuesMax} values`);
}

interface Document {
  whole: string;
  valuesMax: number;
  valuesLeft: number;
}

function refuse(value: unknown, document: Document, path: string, depth: number): void {
  const { whole, valuesMax } = document;
  if (--document.valuesLeft < 0) throw tooManyValues(path.split(".", 1)[0] ?? "", whole, valuesMax);
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalid(path, `${path} must not contain a NUL character`);
  } else if (typeof value === "number") {
    if (Number.isNaN(value)) throw invalid(path, `${path} must be text: a number with so many digits loses some`);
    if (!Number.isFinite(value)) throw invalid(path, `${path} must be a number that fits a double`);
  } else if (typeof value === "object" && value !== null) {
    if (depth >= DEPTH_MAX) throw invalid(path, `${whole} must not be nested more than ${DEPTH_MAX} levels deep`);
    for (const key in value) {
      if (key.includes("\0")) throw invalid(path, "A field name must not contain a NUL character");
      // Decoders assign fields to an object, where this one would set the prototype.
      if (key === "__proto__") throw invalid(path, "A field name must not be __proto__");
      const item = (value as Record<string, unknown>)[key];
      refuse(item, document, path === "" ? key : `${path}.${key}`, depth + 1);
    }
  }
}
