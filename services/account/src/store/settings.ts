import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";

export interface SettingsRow {
  /** Null when never set. */
  retentionDays: number | null;
}

/** @throws ServiceError not_found when the owner does not exist */
export async function getSettingsRow(sql: Sql, ownerId: string): Promise<SettingsRow> {
  const [row] = isId("own", ownerId)
    ? await sql<SettingsRow[]>`
        select retention_days from owners left join settings using (owner_id)
        where owner_id = ${ownerId} and deleted_at is null`
    : [];
  if (!row) throw notFound("Owner");
  return row;
}

export async function setRetentionDays(sql: Sql, ownerId: string, retentionDays: number, now: Date): Promise<void> {
  await sql`
    insert into settings (owner_id, retention_days, updated_at) values (${ownerId}, ${retentionDays}, ${now})
    on conflict (owner_id) do update set retention_days = excluded.retention_days, updated_at = excluded.updated_at,
      revision = settings.revision + 1`;
}

/** Resets the settings of a deleted owner. Returns whether there were any. */
export async function forgetSettings(sql: Sql, ownerId: string, now: Date): Promise<boolean> {
  const forgotten = await sql`
    update settings set revision = revision + 1, updated_at = ${now} where owner_id = ${ownerId} returning 1`;
  return forgotten.length > 0;
}

export interface RetentionRow {
  /** Undefined for the default, also after the owner is deleted. */
  retentionDays: number | undefined;
  revision: number;
}

/** Returns null when never changed. */
export async function findRetention(sql: Sql, ownerId: string): Promise<RetentionRow | null> {
  const [row] = await sql<{ retentionDays: number | null; revision: number }[]>`
    select case when deleted_at is null then retention_days end as retention_days, revision
    from settings join owners using (owner_id) where owner_id = ${ownerId}`;
  return row ? { retentionDays: row.retentionDays ?? undefined, revision: row.revision } : null;
}
