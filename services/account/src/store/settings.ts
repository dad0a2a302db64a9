import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";

/** Null where never set. */
export interface SettingsRow {
  retentionDays: number | null;
  timezone: string | null;
}

/** @throws ServiceError not_found when the owner does not exist */
export async function getSettingsRow(sql: Sql, ownerId: string): Promise<SettingsRow> {
  const [row] = isId("own", ownerId)
    ? await sql<SettingsRow[]>`
        select retention_days, timezone from owners left join settings using (owner_id)
        where owner_id = ${ownerId} and deleted_at is null`
    : [];
  if (!row) throw notFound("Owner");
  return row;
}

/** Changes the settings that are given. @returns all of them */
export async function storeSettings(
  sql: Sql,
  ownerId: string,
  changed: Partial<SettingsRow>,
  now: Date,
): Promise<SettingsRow> {
  const { retentionDays = null, timezone = null } = changed;
  const [row] = await sql<[SettingsRow]>`
    insert into settings (owner_id, retention_days, timezone, updated_at)
    values (${ownerId}, ${retentionDays}, ${timezone}, ${now})
    on conflict (owner_id) do update set
      retention_days = case when ${"retentionDays" in changed} then excluded.retention_days else settings.retention_days end,
      timezone = case when ${"timezone" in changed} then excluded.timezone else settings.timezone end,
      updated_at = excluded.updated_at, revision = settings.revision + 1
    returning retention_days, timezone`;
  return row;
}

/** Resets the settings of a deleted owner. Returns whether there were any. */
export async function forgetSettings(sql: Sql, ownerId: string, now: Date): Promise<boolean> {
  const forgotten = await sql`
    update settings set revision = revision + 1, updated_at = ${now} where owner_id = ${ownerId} returning 1`;
  return forgotten.length > 0;
}

/** Undefined for a default, also after the owner is deleted. */
interface ToldSettings {
  retentionDays: number | undefined;
  timezone: string | undefined;
  revision: number;
}

/** What the conversation service is told. Returns null when never changed. */
export async function findToldSettings(sql: Sql, ownerId: string): Promise<ToldSettings | null> {
  const [row] = await sql<(SettingsRow & { revision: number })[]>`
    select case when deleted_at is null then retention_days end as retention_days,
      case when deleted_at is null then timezone end as timezone, revision
    from settings join owners using (owner_id) where owner_id = ${ownerId}`;
  return row
    ? { retentionDays: row.retentionDays ?? undefined, timezone: row.timezone ?? undefined, revision: row.revision }
    : null;
}
