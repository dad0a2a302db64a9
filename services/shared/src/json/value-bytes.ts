/** The sizes of an object, of one of its fields, of a string and of any other value, in JavaScriptCore and rounded up. */
const OBJECT_BYTES = 64;
const FIELD_BYTES = 32;
const STRING_BYTES = 32;
const OTHER_BYTES = 16;

/** About how many bytes of memory a message or JSON value occupies, rather too many than too few. */
export function bytesOfValue(value: unknown): number {
  if (typeof value === "string") return STRING_BYTES + 2 * value.length;
  if (typeof value !== "object" || value === null) return OTHER_BYTES;
  let bytes = OBJECT_BYTES;
  for (const [name, inner] of Object.entries(value)) bytes += FIELD_BYTES + 2 * name.length + bytesOfValue(inner);
  return bytes;
}
