import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { AlertMetric } from "@parley/shared/portable/alerts";

interface AlertKey {
  ownerId: string;
  alertId: string;
}

export interface AlertRule {
  name: string;
  enabled: boolean;
  metric: AlertMetric;
  /** Null: all agents. */
  agentId: string | null;
  windowMinutes: number;
  threshold: number;
  minimumCount: number;
}

export interface AlertRow extends AlertKey, AlertRule {
  isOpen: boolean;
  /** Of the last check. */
  value: number | null;
  count: number | null;
  checkedAt: Date | null;
  openedAt: Date | null;
  resolvedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

const alertColumns = (sql: Sql) => sql`
  owner_id, alert_id, name, enabled, metric, agent_id, window_minutes, threshold, minimum_count, is_open, value, count,
  checked_at, opened_at, resolved_at, created_at, updated_at`;

/** An owner's alerts, oldest first: there are few. */
export async function listAlertRows(sql: Sql, ownerId: string): Promise<AlertRow[]> {
  return sql<AlertRow[]>`select ${alertColumns(sql)} from alerts where owner_id = ${ownerId} order by alert_id`;
}

/** Serializes an owner's additions until the end of the transaction. @returns how many there are */
export async function lockAlerts(tx: Sql, ownerId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.alerts.' || ${ownerId}, 0))`;
  const [row] = await tx<[{ total: number }]>`
    select count(*)::integer as total from alerts where owner_id = ${ownerId}`;
  return row.total;
}

/** Whether an owner gets the first alerts now, for the first time. */
export async function isNewToAlerts(tx: Sql, ownerId: string): Promise<boolean> {
  const { count } = await tx`insert into alert_owners (owner_id) values (${ownerId}) on conflict do nothing`;
  return count > 0;
}

export async function insertAlert(sql: Sql, row: AlertRow): Promise<void> {
  await sql`
    insert into alerts (owner_id, alert_id, name, enabled, metric, agent_id, window_minutes, threshold, minimum_count,
      created_at, updated_at)
    values (${row.ownerId}, ${row.alertId}, ${row.name}, ${row.enabled}, ${row.metric}, ${row.agentId},
      ${row.windowMinutes}, ${row.threshold}, ${row.minimumCount}, ${row.createdAt}, ${row.updatedAt})`;
}

/** Locks the alert until the end of the transaction. @throws ServiceError not_found */
export async function lockAlert(tx: Sql, key: AlertKey): Promise<AlertRow> {
  const row = isId("alr", key.alertId) ? await findAlertForUpdate(tx, key) : undefined;
  if (!row) throw notFound("Alert");
  return row;
}

/** The same of one that may be gone. */
export async function findAlertForUpdate(tx: Sql, { ownerId, alertId }: AlertKey): Promise<AlertRow | undefined> {
  const [row] = await tx<AlertRow[]>`
    select ${alertColumns(tx)} from alerts where owner_id = ${ownerId} and alert_id = ${alertId} for update`;
  return row;
}

export async function updateAlertRow(sql: Sql, row: AlertRow): Promise<void> {
  await sql`
    update alerts set name = ${row.name}, enabled = ${row.enabled}, metric = ${row.metric}, agent_id = ${row.agentId},
      window_minutes = ${row.windowMinutes}, threshold = ${row.threshold}, minimum_count = ${row.minimumCount},
      is_open = ${row.isOpen}, value = ${row.value}, count = ${row.count}, checked_at = ${row.checkedAt},
      opened_at = ${row.openedAt}, resolved_at = ${row.resolvedAt}, updated_at = ${row.updatedAt}
    where owner_id = ${row.ownerId} and alert_id = ${row.alertId}`;
}

export async function deleteAlertRow(sql: Sql, { ownerId, alertId }: AlertKey): Promise<void> {
  await sql`delete from alerts where owner_id = ${ownerId} and alert_id = ${alertId}`;
}

/** Deletes all alerts of a deleted owner. */
export async function forgetAlertsOf(tx: Sql, ownerId: string): Promise<void> {
  await tx`delete from alerts where owner_id = ${ownerId}`;
  await tx`delete from alert_owners where owner_id = ${ownerId}`;
}
