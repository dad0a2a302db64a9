import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

interface CallUsage {
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

/** How much was called on earlier days. */
export const OLD_USAGE: OldRows = { table: "call_usage", by: "day", keptMs: 0, isDay: true };
