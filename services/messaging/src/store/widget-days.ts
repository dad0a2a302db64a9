import type { Sql } from "@parley/shared/db/database";

/**
 * Counts a visitor's message on the UTC day of `now`.
 * @returns false, with nothing counted, when the owner's agents have had `max` on that day
 */
export async function countWidgetMessage(sql: Sql, ownerId: string, now: Date, max: number): Promise<boolean> {
  const { count } = await sql`
    insert into widget_days (owner_id, day, messages) values (${ownerId}, ${dayOf(now)}, 1)
    on conflict (owner_id, day) do update set messages = widget_days.messages + 1 where widget_days.messages < ${max}`;
  return count > 0;
}

/** @returns the number deleted */
export async function deleteOldWidgetDays(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from widget_days where (owner_id, day) in (
      select owner_id, day from widget_days where day < ${dayOf(before)} order by day limit ${limit} for update skip locked
    )`;
  return count;
}

const dayOf = (time: Date) => time.toISOString().slice(0, 10);
