import type { Edits } from "./edits.ts";

const SECRET = "api_key";
const START = "start_webhook";

/** The edits with each newly entered key replaced by the mask of the stored one, or left out if there is none. */
export function withoutSecrets({ changes, bases }: Edits): Edits {
  const safe = Object.entries(changes).map(([field, value]) => [
    field,
    field === START ? maskedStart(changes[START], bases[START]) : masked(value, bases[field]),
  ]);
  return { changes: Object.fromEntries(safe), bases };
}

type Start = Edits["changes"]["start_webhook"];

/** Its secret is new, and the text of a header may be one. */
function maskedStart(value: Start, stored: unknown): unknown {
  if (!value) return value;
  const { secret: _, headers, ...shown } = value;
  const known = ((stored ?? {}) as NonNullable<Start>).headers ?? {};
  const safe = Object.entries(headers ?? {}).map(([name, text]) => [
    name,
    typeof text === "string" ? (known[name] ?? "") : text,
  ]);
  return { ...shown, headers: Object.fromEntries(safe) };
}

function masked(value: unknown, stored: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = (stored ?? {}) as Record<string, unknown>;
  if (Array.isArray(value)) return value.map((item, at) => masked(item, known[at]));
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    name === SECRET && typeof item === "string" ? known[SECRET] : masked(item, known[name]),
  ]);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}
