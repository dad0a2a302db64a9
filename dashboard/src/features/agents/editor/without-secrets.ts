import type { Edits } from "./edits.ts";

const SECRET = "api_key";

/** The edits with each newly entered key replaced by the mask of the stored one, or left out if there is none. */
export function withoutSecrets({ changes, bases }: Edits): Edits {
  const safe = Object.entries(changes).map(([field, value]) => [field, masked(value, bases[field])]);
  return { changes: Object.fromEntries(safe), bases };
}

function masked(value: unknown, stored: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = (stored ?? {}) as Record<string, unknown>;
  if (Array.isArray(value)) return value.map((item, at) => masked(item, known[at]));
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    name === SECRET ? known[SECRET] : masked(item, known[name]),
  ]);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}
