import { invalid } from "./errors.ts";

/** An object in an object takes three messages of protobuf, whose readers stop at 100 (protobuf.dev: recursion limit). */
const DEPTH_MAX = 32;

/**
 * Refuses JSON that cannot be kept and given back as it came.
 * @param whole what is being looked at, as a sentence begins: "The request body"
 * @param path where in it, "" at its top
 * @throws ServiceError invalid on a NUL character, a number beyond a double, NaN (one whose digits no double holds), nesting over 32 deep or a field named __proto__
 */
export function refuseUnstorable(value: unknown, whole: string, path = "", depth = 0): void {
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
      refuseUnstorable(item, whole, path === "" ? key : `${path}.${key}`, depth + 1);
    }
  }
}
