/** Whether a value has everything that is wanted: an object may have more fields, everything else must be equal. */
export function hasPart(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(value) && value.length === wanted.length && wanted.every((each, at) => hasPart(value[at], each))
    );
  if (typeof wanted !== "object" || wanted === null) return Object.is(value, wanted);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(wanted).every(
    ([name, each]) => Object.hasOwn(value, name) && hasPart((value as Record<string, unknown>)[name], each),
  );
}
