import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";

export interface SettingsRow {
  /** Null: never set. */
  retentionDays: number | null;
}

/** @throws ServiceError not_found when there is no such owner. */
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
    on conflict (owner_id) do update set retention_days = excluded.retention_days, updated_at = excluded.updated_at`;
}
