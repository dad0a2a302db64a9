import { type Clock, isSure } from "../clock.ts";
import type { Fragment, Sql } from "../db/database.ts";
import { oldestPlaces } from "../db/oldest-places.ts";
import { invalid } from "../errors.ts";

/**
 * A table of keys: `owner_id`, `idempotency_key`, the request's `fingerprint`, and the request's outcome
 * (docs/decisions/0017-one-mechanism-for-idempotency-keys.md).
 */
export interface KeyTable {
  name: string;
  /** The column with the time at which a key was taken. */
  takenAt: string;
  /** Assignments, each with a comma, that clear the outcome of an earlier request. */
  clear(sql: Sql): Fragment;
}

export interface IdempotencyKey {
  ownerId: string;
  key: string;
}

/** How long a key is remembered. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Keys taken until then are free again. */
export function keysExpiredAt(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS);
}

/**
 * Takes a key for a request. Waits while another transaction holds the key, as every insert of the same primary key
 * does.
 * @returns whether the key was free or had expired
 */
export async function takeKey(
  sql: Sql,
  table: KeyTable,
  { ownerId, key }: IdempotencyKey,
  fingerprint: Uint8Array,
  now: Date,
): Promise<boolean> {
  const takenAt = sql(table.takenAt);
  const [taken] = await sql`
    insert into ${sql(table.name)} as stored (owner_id, idempotency_key, fingerprint, ${takenAt})
    values (${ownerId}, ${key}, ${fingerprint}, ${now})
    on conflict (owner_id, idempotency_key) do update set
      ${table.clear(sql)} fingerprint = excluded.fingerprint, ${takenAt} = excluded.${takenAt}
      where stored.${takenAt} <= ${keysExpiredAt(now)}
    returning 1`;
  return taken !== undefined;
}

/** How many requests with a new key share a sweep, so that each pays for a small part of one. */
const SWEEP_EVERY = 5;
/** More keys than those requests add. */
const SWEPT_MAX = 50;
const requestsSince = new WeakMap<KeyTable, number>();

/** Called before each new key: sweeps at every fifth call. */
export async function sweepKeysSometimes(sql: Sql, table: KeyTable, clock: Clock): Promise<void> {
  const since = requestsSince.get(table) ?? 0;
  requestsSince.set(table, (since + 1) % SWEEP_EVERY);
  if (since === 0) await sweepKeys(sql, table, clock);
}

/**
 * Deletes some expired keys, of any owner unless one is given; none while the clock is in doubt.
 * @returns the number deleted
 */
export async function sweepKeys(sql: Sql, table: KeyTable, clock: Clock, ownerId?: string): Promise<number> {
  if (!isSure(clock)) return 0;
  const owned = ownerId === undefined ? sql`` : sql`and owner_id = ${ownerId}`;
  const where = sql`${sql(table.takenAt)} <= ${keysExpiredAt(clock.now())} ${owned}`;
  const expired = { where, by: table.takenAt, limit: SWEPT_MAX };
  const { count } =
    await sql`delete from ${sql(table.name)} where ctid = any(${oldestPlaces(sql, table.name, expired)})`;
  return count;
}

/** @throws ServiceError invalid when a key was taken for another request */
export function refuseOtherRequest(taken: Buffer, sent: Uint8Array): void {
  if (taken.equals(sent)) return;
  throw invalid(
    "Idempotency-Key",
    "Idempotency-Key was used with another request within the last 24 hours: send a new key with a new request",
  );
}
