import type { Database, Fragment, Sql } from "../db/database.ts";
import { invalid } from "../errors.ts";
import { type OldRows, oldRows } from "../jobs/old-rows.ts";
import type { Sweep } from "../jobs/sweeps.ts";

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
/** How often expired keys are deleted, which an owner without room for another response waits for. */
export const SWEEP_MS = 60_000;

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

export function expiredKeys(db: Database, tables: readonly KeyTable[]): Sweep {
  return oldRows(db, "delete-expired-keys", SWEEP_MS, tables.map(oldKeys));
}

/** A response may have megabytes. */
export function oldKeys({ name, takenAt }: KeyTable): OldRows {
  return { table: name, by: takenAt, keptMs: KEPT_MS, rows: 50 };
}

/** @throws ServiceError invalid when a key was taken for another request */
export function refuseOtherRequest(taken: Buffer, sent: Uint8Array): void {
  if (taken.equals(sent)) return;
  throw invalid(
    "Idempotency-Key",
    "Idempotency-Key was used with another request within the last 24 hours: send a new key with a new request",
  );
}
