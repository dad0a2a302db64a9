import type { Sql } from "../db/database.ts";
import type { ErrorKind, Violation } from "../errors.ts";

export interface IdempotencyKey {
  ownerId: string;
  key: string;
}

export interface StoredError {
  kind: ErrorKind;
  detail: string;
  violations: readonly Violation[];
  metadata: Readonly<Record<string, string>>;
}

export interface StoredOutcome {
  fingerprint: Buffer;
  /** The encoded message; null when the request ended in `error`. */
  response: Buffer | null;
  error: StoredError | null;
}

/**
 * Claims a key in this transaction, or returns the answer of its earlier request. Waits while another transaction holds
 * the key, as every insert of the same primary key does.
 * @returns null when the key was free or older than `expiredAt`
 */
export async function takeKey(
  tx: Sql,
  { ownerId, key }: IdempotencyKey,
  fingerprint: Uint8Array,
  now: Date,
  expiredAt: Date,
): Promise<StoredOutcome | null> {
  const [taken] = await tx`
    insert into idempotency_keys (owner_id, idempotency_key, fingerprint, created_at)
    values (${ownerId}, ${key}, ${fingerprint}, ${now})
    on conflict (owner_id, idempotency_key) do update
      set fingerprint = excluded.fingerprint, response = null, error = null, created_at = excluded.created_at
      where idempotency_keys.created_at <= ${expiredAt}
    returning 1`;
  return taken ? null : findOutcome(tx, { ownerId, key }, expiredAt);
}

/**
 * Returns the answer of a key's earlier request; null when there is none, when it is still running, or when it is older
 * than `expiredAt`.
 */
export async function findOutcome(
  sql: Sql,
  { ownerId, key }: IdempotencyKey,
  expiredAt: Date,
): Promise<StoredOutcome | null> {
  const [stored] = await sql<StoredOutcome[]>`
    select fingerprint, response, error from idempotency_keys
    where owner_id = ${ownerId} and idempotency_key = ${key} and created_at > ${expiredAt}`;
  return stored ?? null;
}

export async function storeResponse(tx: Sql, { ownerId, key }: IdempotencyKey, response: Uint8Array): Promise<void> {
  await tx`
    update idempotency_keys set response = ${response}
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}

export async function storeError(tx: Sql, { ownerId, key }: IdempotencyKey, error: StoredError): Promise<void> {
  await tx`
    update idempotency_keys set error = ${tx.json(error as never)}
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}

/** Deletes a few keys at a time, more than are added, so that no request pays for many. */
export async function deleteExpiredKeys(sql: Sql, expiredAt: Date): Promise<void> {
  await sql`
    delete from idempotency_keys
    where (owner_id, idempotency_key) in (
      select owner_id, idempotency_key from idempotency_keys
      where created_at <= ${expiredAt}
      order by created_at limit 10 for update skip locked
    )`;
}
