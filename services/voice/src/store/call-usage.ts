import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";

export interface CallUsage {
  calls: number;
  seconds: number;
}

/** The UTC day of a moment, such as 2026-01-31. */
export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export async function findCallUsage(sql: Sql, ownerId: string, day: string): Promise<CallUsage> {
  const [row] = await sql<CallUsage[]>`
    select calls, seconds from call_usage where owner_id = ${ownerId} and day = ${day}`;
  return row ?? { calls: 0, seconds: 0 };
}

export async function addCallUsage(
  sql: Sql,
  ownerId: string,
  day: string,
  { calls, seconds }: CallUsage,
): Promise<void> {
  await sql`
    insert into call_usage as used (owner_id, day, calls, seconds) values (${ownerId}, ${day}, ${calls}, ${seconds})
    on conflict (owner_id, day) do update
    set calls = used.calls + excluded.calls, seconds = used.seconds + excluded.seconds`;
}

/** Deletes at most `limit` rows of days before that of `before`. @returns the number deleted */
export async function deleteCallUsage(sql: Sql, before: Date, limit: number): Promise<number> {
  const old = { where: sql`day < ${dayOf(before)}::date`, by: "day", limit };
  const { count } = await sql`delete from call_usage where ctid = any(${oldestPlaces(sql, "call_usage", old)})`;
  return count;
}
