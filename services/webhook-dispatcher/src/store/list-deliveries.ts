import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Database, Fragment, Sql } from "@parley/shared/db/database";
import { firstIdAt } from "@parley/shared/ids";
import type { AttemptRow, DeliveryKey, DeliveryStatusName } from "./deliveries.ts";

export interface DeliveryFilter {
  ownerId: string;
  /** Null does not filter. */
  destinationId: string | null;
  conversationId: string | null;
  status: DeliveryStatusName | null;
  event?: string | null;
}

export interface LoggedDelivery extends DeliveryKey {
  destinationId: string;
  eventId: string;
  event: string;
  conversationId: string;
  status: DeliveryStatusName;
  nextAttemptAt: Date | null;
  createdAt: Date;
  test: boolean;
  log: LoggedAttempt[];
  /** Null when it was removed, and in lists. */
  payload: string | null;
}

type DeliveryRow = Omit<LoggedDelivery, "log" | "payload">;

export interface LoggedAttempt extends AttemptRow {
  number: number;
  /** Null also in lists. */
  request: string | null;
}

/** Bytes of an attempt beside the response. */
const ATTEMPT_BYTES = 200;

/** A page of an owner's deliveries, newest first, and the total number of matches. */
export async function listDeliveryRows(
  db: Database,
  filter: DeliveryFilter,
  page: { number: number; size: number },
): Promise<{ rows: LoggedDelivery[]; total: number }> {
  // One snapshot for page, attempts and total.
  return db.begin("isolation level repeatable read read only", async (tx) => {
    // Partial indexes on status can be used only when the planner knows the status.
    await tx`set local plan_cache_mode = force_custom_plan`;
    const [rows, [count]] = await Promise.all([
      // Chosen before the join, so that no event of a skipped delivery is read.
      tx<DeliveryRow[]>`
        select page.* from (
          select d.delivery_id from deliveries d where ${matching(tx, filter)}
          order by d.delivery_id desc limit ${page.size} offset ${(page.number - 1) * page.size}
        ) as chosen cross join lateral (
          ${selected(tx, tx`owner_id = ${filter.ownerId} and delivery_id = chosen.delivery_id`)}
        ) as page
        order by delivery_id desc`,
      tx<{ total: number }[]>`select count(*) as total from deliveries d where ${matching(tx, filter)}`,
    ]);
    return { rows: await withAttempts(tx, rows, tx`null::text`), total: count?.total ?? 0 };
  });
}

/**
 * What has come of an owner's deliveries since a time. Tests do not count, nor do the events of alerts: one that cannot be delivered would
 * open the alert again and again that its own end has resolved.
 */
export async function countDeliveries(
  sql: Sql,
  ownerId: string,
  since: Date,
): Promise<{ delivered: number; failed: number }> {
  // Ids are ordered by time, and those of an owner are in an index; another process's clock may be a bit behind.
  const [row] = await sql<[{ delivered: number; failed: number }]>`
    select count(*) filter (where status = 'delivered')::integer as delivered,
      count(*) filter (where status = 'failed' or status = 'pending' and attempts > 0)::integer as failed
    from deliveries d cross join lateral (
      select event, test from events where owner_id = d.owner_id and event_id = d.event_id offset 0
    ) as e
    where d.owner_id = ${ownerId} and d.delivery_id >= ${firstIdAt("dlv", new Date(since.getTime() - MINUTE_MS))}
      and d.created_at >= ${since} and not e.test and e.event not in ('alert.opened', 'alert.resolved')`;
  return row;
}

const MINUTE_MS = 60_000;

/** A delivery with what was sent, which a list leaves out. */
export async function findDelivery(db: Database, { ownerId, deliveryId }: DeliveryKey): Promise<LoggedDelivery | null> {
  return db.begin("isolation level repeatable read read only", async (tx) => {
    const rows = await tx<DeliveryRow[]>`
      ${selected(tx, tx`owner_id = ${ownerId} and delivery_id = ${deliveryId}`)}`;
    const [row] = await withAttempts(tx, rows, tx`request`);
    if (!row) return null;
    const [sent] = await readBoundedPage<{ payload: string | null }>(tx, {
      rows: tx`select payload from events where owner_id = ${ownerId} and event_id = ${row.eventId}`,
      bytes: tx`coalesce(octet_length(payload), 0)`,
      order: tx``,
    });
    return { ...row, payload: sent?.payload ?? null };
  });
}

/** A delivery with its event. `offset 0` keeps each a look-up: the planner would rather read all that a new owner has. */
const selected = (sql: Sql, isWanted: Fragment) => sql`
  select d.owner_id, d.delivery_id, d.destination_id, d.event_id, e.event, d.conversation_id, d.status, d.next_attempt_at,
    d.created_at, e.test
  from (select * from deliveries where ${isWanted} offset 0) as d
  cross join lateral (
    select event, test from events where owner_id = d.owner_id and event_id = d.event_id offset 0
  ) as e`;

const matching = (sql: Sql, { ownerId, destinationId, conversationId, status, event = null }: DeliveryFilter) => sql`
  d.owner_id = ${ownerId}
  ${destinationId === null ? sql`` : sql`and d.destination_id = ${destinationId}`}
  ${conversationId === null ? sql`` : sql`and d.conversation_id = ${conversationId}`}
  ${status === null ? sql`` : sql`and d.status = ${status}`}
  ${event === null ? sql`` : sql`and exists (select from events where owner_id = d.owner_id and event_id = d.event_id and event = ${event} offset 0)`}`;

async function withAttempts(sql: Sql, rows: readonly DeliveryRow[], request: Fragment): Promise<LoggedDelivery[]> {
  const attempts = await readBoundedPage<LoggedAttempt & DeliveryKey>(sql, {
    rows: sql`
      select a.owner_id, a.delivery_id, number, started_at, duration_ms, http_status, error, response_excerpt,
        ${request} as request
      from unnest(${rows.map((row) => row.deliveryId)}::text[]) as wanted (delivery_id)
      cross join lateral (
        select * from attempts where owner_id = ${rows[0]?.ownerId ?? ""} and delivery_id = wanted.delivery_id offset 0
      ) as a`,
    bytes: sql`${ATTEMPT_BYTES}::integer + coalesce(octet_length(response_excerpt), 0) + coalesce(octet_length(request), 0)`,
    order: sql`order by number`,
  });
  const logs = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return rows.map((row) => ({ ...row, log: logs.get(row.deliveryId) ?? [], payload: null }));
}
