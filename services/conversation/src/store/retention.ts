import type { Fragment, Sql } from "@parley/shared/db/database";

/** Days that conversations are kept if their owner chose no other number. */
const DAYS_DEFAULT = 90;

/** The earliest start of a conversation that its owner can still see, as an SQL value. Takes values or SQL for them. */
export function keptSince(sql: Sql, ownerId: string | Fragment, now: Date | Fragment) {
  return keptFor(sql, sql`(select retention_days from owner_settings where owner_id = ${ownerId})`, now);
}

/**
 * Whether a conversation found by its key is within retention, as an SQL condition. Written so that no index matches
 * it: without statistics, the planner would pick an index on the start time over the key.
 */
export function isKept(sql: Sql, ownerId: string | Fragment, now: Date | Fragment) {
  return sql`(created_at >= ${keptSince(sql, ownerId, now)}) is true`;
}

/** `keptSince` for a number of days; null is the default. */
export function keptFor(sql: Sql, days: ReturnType<Sql>, now: Date | Fragment) {
  return sql`(${now}::timestamptz - coalesce(${days}, ${DAYS_DEFAULT}::integer) * interval '24 hours')`;
}

export async function findKeptSince(sql: Sql, ownerId: string, now: Date): Promise<Date> {
  const [row] = await sql<[{ keptSince: Date }]>`select ${keptSince(sql, ownerId, now)} as kept_since`;
  return row.keptSince;
}

/** Does nothing when a newer revision is stored. Null is the default. */
export async function storeOwnerSettings(
  sql: Sql,
  ownerId: string,
  { retentionDays, timezone }: { retentionDays: number | null; timezone: string | null },
  revision: number,
): Promise<void> {
  await sql`
    insert into owner_settings (owner_id, retention_days, timezone, revision)
    values (${ownerId}, ${retentionDays}, ${timezone}, ${revision})
    on conflict (owner_id) do update set retention_days = excluded.retention_days, timezone = excluded.timezone,
      revision = excluded.revision
      where owner_settings.revision < excluded.revision`;
}
