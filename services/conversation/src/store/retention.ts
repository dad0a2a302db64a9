import type { Fragment, Sql } from "@parley/shared/db/database";

/** Days that conversations are kept if their owner chose no other number. */
const DAYS_DEFAULT = 90;

/** The earliest start of a conversation that its owner can still see, as an SQL value. Takes values or SQL for them. */
export function keptSince(sql: Sql, ownerId: string | Fragment, now: Date | Fragment) {
  return keptFor(sql, sql`(select retention_days from owner_retention where owner_id = ${ownerId})`, now);
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

/** Does nothing when a newer revision is stored. @param days null for the default */
export async function setRetention(sql: Sql, ownerId: string, days: number | null, revision: number): Promise<void> {
  await sql`
    insert into owner_retention (owner_id, retention_days, revision) values (${ownerId}, ${days}, ${revision})
    on conflict (owner_id) do update set retention_days = excluded.retention_days, revision = excluded.revision
      where owner_retention.revision < excluded.revision`;
}
