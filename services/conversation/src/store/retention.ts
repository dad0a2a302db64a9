import type { Sql } from "@parley/shared/db/database";

/** Days that conversations are kept if their owner chose no other number. */
const DAYS_DEFAULT = 90;

/** When the oldest conversation that an owner still has may have begun, as an SQL value: older ones are there for nobody. */
export function keptSince(sql: Sql, ownerId: string, now: Date) {
  return keptFor(sql, sql`(select retention_days from owner_retention where owner_id = ${ownerId})`, now);
}

/**
 * Whether a conversation that is found by its key is still there for its owner, as an SQL condition. Written so that no index is
 * for it: while no statistics tell how few have a key, those by the time of the beginning promise to find it as soon.
 */
export function isKept(sql: Sql, ownerId: string, now: Date) {
  return sql`(created_at >= ${keptSince(sql, ownerId, now)}) is true`;
}

/** `keptSince` from a number of days, null for the default. */
export function keptFor(sql: Sql, days: ReturnType<Sql>, now: Date) {
  return sql`(${now}::timestamptz - coalesce(${days}, ${DAYS_DEFAULT}::integer) * interval '24 hours')`;
}

export async function findKeptSince(sql: Sql, ownerId: string, now: Date): Promise<Date> {
  const [row] = await sql<[{ keptSince: Date }]>`select ${keptSince(sql, ownerId, now)} as kept_since`;
  return row.keptSince;
}

/** Unless a newer revision is there. @param days null for the default */
export async function setRetention(sql: Sql, ownerId: string, days: number | null, revision: number): Promise<void> {
  await sql`
    insert into owner_retention (owner_id, retention_days, revision) values (${ownerId}, ${days}, ${revision})
    on conflict (owner_id) do update set retention_days = excluded.retention_days, revision = excluded.revision
      where owner_retention.revision < excluded.revision`;
}
