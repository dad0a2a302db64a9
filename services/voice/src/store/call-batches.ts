import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { CallEnd } from "./calls.ts";
import type { Provider } from "./outbound-calls.ts";

export interface BatchKey {
  ownerId: string;
  batchId: string;
}

/** The settings that the calls of a batch share. */
export interface BatchSettings {
  /** For people. */
  name: string | null;
  agentId: string;
  /** Null: the one that is published when a call begins. */
  agentVersion: number | null;
  fromMobileNumber: string;
  metadata: Record<string, unknown>;
  isTestCall: boolean;
  maxDurationSeconds: number;
  ringSeconds: number;
  voicemail: "hang_up" | "leave_message" | null;
  /** ISO 8601; null: at once. */
  startAt: string | null;
  window: { fromMinute: number; toMinute: number; timezone: string } | null;
  retries: { max: number; afterMinutes: number; on: CallEnd["outcome"][] };
}

export interface CallBatchRow extends BatchKey {
  status: "RUNNING" | "PAUSED" | "CANCELLED" | "ENDED";
  settings: BatchSettings;
  carrierId: string;
  provider: Provider;
  total: number;
  createdAt: Date;
  endedAt: Date | null;
}

export interface BatchEntry {
  number: number;
  toMobileNumber: string;
  dynamicVariables: Record<string, unknown>;
}

const columns = (sql: Sql) =>
  sql`owner_id, batch_id, status, settings, carrier_id, provider, total, created_at, ended_at`;

export async function insertBatch(
  sql: Sql,
  batch: Omit<CallBatchRow, "status" | "endedAt" | "total">,
  entries: readonly BatchEntry[],
): Promise<void> {
  await sql`
    insert into call_batches (owner_id, batch_id, settings, carrier_id, provider, total, created_at)
    values (${batch.ownerId}, ${batch.batchId}, ${sql.json(batch.settings as never)}, ${batch.carrierId},
      ${batch.provider}, ${entries.length}, ${batch.createdAt})`;
  await sql`
    insert into batch_calls (owner_id, batch_id, number, to_mobile_number, dynamic_variables, due_at)
    select ${batch.ownerId}, ${batch.batchId}, number, to_mobile_number, dynamic_variables::jsonb, ${batch.createdAt}
    from unnest(
      ${entries.map(({ number }) => number)}::integer[],
      ${entries.map(({ toMobileNumber }) => toMobileNumber)}::text[],
      ${entries.map(({ dynamicVariables }) => JSON.stringify(dynamicVariables))}::text[]
    ) as given (number, to_mobile_number, dynamic_variables)`;
}

/** @param lock keeps others from changing it until the end of the transaction */
export async function findBatch(sql: Sql, { ownerId, batchId }: BatchKey, lock = false): Promise<CallBatchRow | null> {
  const [row] = await sql<CallBatchRow[]>`
    select ${columns(sql)} from call_batches where owner_id = ${ownerId} and batch_id = ${batchId}
    ${lock ? sql`for update` : sql``}`;
  return row ?? null;
}

export async function listBatches(
  sql: Sql,
  ownerId: string,
  page: { number: number; size: number },
): Promise<{ batches: CallBatchRow[]; total: number }> {
  const [batches, [count]] = await Promise.all([
    sql<CallBatchRow[]>`
      select ${columns(sql)} from call_batches where owner_id = ${ownerId}
      order by created_at desc, batch_id desc limit ${page.size} offset ${(page.number - 1) * page.size}`,
    sql<{ total: number }[]>`select count(*) as total from call_batches where owner_id = ${ownerId}`,
  ]);
  return { batches, total: count?.total ?? 0 };
}

export async function countUnendedBatches(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from call_batches where owner_id = ${ownerId} and status in ('RUNNING', 'PAUSED')`;
  return row?.total ?? 0;
}

/** Numbers of a batch by state: PENDING, CALLING, or the outcome of one that is done. */
export async function countBatchCalls(sql: Sql, { ownerId, batchId }: BatchKey): Promise<Map<string, number>> {
  const rows = await sql<{ state: string; total: number }[]>`
    select case status when 'ENDED' then outcome else status end as state, count(*) as total from batch_calls
    where owner_id = ${ownerId} and batch_id = ${batchId} group by 1`;
  return new Map(rows.map(({ state, total }) => [state, total]));
}

/** @returns whether the batch had another status */
export async function storeBatchStatus(
  sql: Sql,
  { ownerId, batchId }: BatchKey,
  status: CallBatchRow["status"],
  now: Date,
): Promise<boolean> {
  const isOver = status === "CANCELLED" || status === "ENDED";
  const { count } = await sql`
    update call_batches set status = ${status}, ended_at = ${isOver ? now : null}
    where owner_id = ${ownerId} and batch_id = ${batchId} and status <> ${status}
      and status not in ('CANCELLED', 'ENDED')`;
  return count > 0;
}

/** Numbers that one statement looks at, and may skip: some 20 ms if it skips all. */
export const LOOKED_AT_ONCE = 1_000;

/**
 * Takes the next `limit` numbers that are due and may be called, and skips those before them that are on the owner's do-not-call list:
 * of `LOOKED_AT_ONCE` numbers at most.
 * @returns those to call, in order
 */
export async function takeDueEntries(
  tx: Sql,
  { ownerId, batchId }: BatchKey,
  { now, limit }: { now: Date; limit: number },
): Promise<BatchEntry[]> {
  return tx<BatchEntry[]>`
    with due as (
      select number, due_at, exists (
          select from do_not_call where owner_id = ${ownerId} and mobile_number = batch_calls.to_mobile_number
        ) as is_denied
      from batch_calls
      where owner_id = ${ownerId} and batch_id = ${batchId} and status = 'PENDING' and due_at <= ${now}
      order by due_at, number limit ${LOOKED_AT_ONCE}
    ), turns as materialized (
      -- Looks at no more numbers than it takes: the condition ends the window.
      select number, is_denied from (
        select number, is_denied, count(*) filter (where not is_denied) over (
            order by due_at, number rows between unbounded preceding and 1 preceding
          ) as called_before
        from due
      ) as placed
      where called_before < ${limit}
    ), skipped as (
      update batch_calls set status = 'ENDED', outcome = 'DO_NOT_CALL', dynamic_variables = '{}'
      -- Arrays, because a table without statistics would be joined as if it had one row.
      where owner_id = ${ownerId} and batch_id = ${batchId}
        and number = any(array(select number from turns where is_denied))
    ), called as (
      update batch_calls set status = 'CALLING', attempts = attempts + 1
      where owner_id = ${ownerId} and batch_id = ${batchId}
        and number = any(array(select number from turns where not is_denied))
      returning number, to_mobile_number, dynamic_variables, due_at
    )
    select number, to_mobile_number, dynamic_variables from called order by due_at, number`;
}

/** Whether numbers wait or are being called, and when the first of those that wait is due. */
export async function findBatchProgress(
  sql: Sql,
  { ownerId, batchId }: BatchKey,
): Promise<{ calling: number; nextAt: Date | null }> {
  const [row] = await sql<{ calling: number; nextAt: Date | null }[]>`
    select
      (select count(*) from batch_calls
       where owner_id = ${ownerId} and batch_id = ${batchId} and status = 'CALLING') as calling,
      (select due_at from batch_calls
       where owner_id = ${ownerId} and batch_id = ${batchId} and status = 'PENDING'
       order by due_at, number limit 1) as next_at`;
  return row ?? { calling: 0, nextAt: null };
}

/** A number whose call was not made waits again. */
export async function storeEntryTakenBack(sql: Sql, { ownerId, batchId }: BatchKey, number: number): Promise<void> {
  await sql`
    update batch_calls set status = 'PENDING', attempts = attempts - 1
    where owner_id = ${ownerId} and batch_id = ${batchId} and number = ${number} and status <> 'PENDING'`;
}

/** Cancels the numbers that wait to be called. */
export async function cancelEntries(sql: Sql, { ownerId, batchId }: BatchKey): Promise<void> {
  await sql`
    update batch_calls set status = 'ENDED', outcome = 'CANCELLED', dynamic_variables = '{}'
    where owner_id = ${ownerId} and batch_id = ${batchId} and status = 'PENDING'`;
}

/** A call of the batch has ended. If it may be repeated, and the batch is not cancelled, its number waits until `againAt`. */
export async function storeEntryOutcome(
  sql: Sql,
  { ownerId, batchId }: BatchKey,
  number: number,
  { outcome, againAt, attemptsMax }: { outcome: CallEnd["outcome"]; againAt: Date | null; attemptsMax: number },
): Promise<void> {
  await sql`
    update batch_calls set outcome = ${outcome}, due_at = coalesce(${againAt}::timestamptz, due_at),
      status = case when ${againAt}::timestamptz is not null and attempts < ${attemptsMax} then 'PENDING' else 'ENDED' end,
      dynamic_variables = case when ${againAt}::timestamptz is not null and attempts < ${attemptsMax} then dynamic_variables else '{}' end
    where owner_id = ${ownerId} and batch_id = ${batchId} and number = ${number} and status = 'CALLING'`;
}

/** Cancels all of an owner's batches. */
export async function cancelBatchesOf(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await sql`
    update call_batches set status = 'CANCELLED', ended_at = ${now}
    where owner_id = ${ownerId} and status in ('RUNNING', 'PAUSED')`;
}

/**
 * Deletes the oldest of an owner's ended batches, at most `limit`, if the owner's newer ones have `numbersMax` numbers or there are
 * `batchesMax` of them.
 */
export async function deleteOldestEnded(
  sql: Sql,
  ownerId: string,
  { numbersMax, batchesMax, limit }: { numbersMax: number; batchesMax: number; limit: number },
): Promise<void> {
  await sql`
    delete from call_batches where owner_id = ${ownerId} and batch_id = any(array(
      select batch_id from (
        select batch_id, created_at, ended_at, total,
          sum(total) over newest as numbers, row_number() over newest as place
        from call_batches where owner_id = ${ownerId}
        window newest as (order by created_at desc, batch_id desc)
      ) as batches
      where ended_at is not null and (numbers - total >= ${numbersMax} or place > ${batchesMax})
      order by created_at, batch_id limit ${limit}
    ))`;
}

/** Each may have 10,000 numbers. */
export const OLD_BATCHES: OldRows = { table: "call_batches", by: "ended_at", keptMs: 30 * 24 * 60 * 60_000, rows: 10 };
