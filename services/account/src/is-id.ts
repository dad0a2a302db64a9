import type { IdPrefix } from "@parley/shared/ids";

/** Whether a text has the form of an id of that kind. Any other names nothing, and may hold what Postgres refuses to read. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-z]{26}$/.test(text.slice(prefix.length + 1));
}
