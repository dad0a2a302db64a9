import { createHash } from "node:crypto";

/** SHA-256 of a JSON value in hexadecimal, whatever the order of its fields. */
export function jsonHash(value: unknown): string {
  const inOrder = (_name: string, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return createHash("sha256").update(JSON.stringify(value, inOrder)).digest("hex");
}
