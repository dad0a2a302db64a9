import type { Sql } from "../db/database.ts";
import type { OwnedTable } from "../db/owned-rows.ts";
import { fullDetail, type RoomSettings } from "../domain/full.ts";
import { type ErrorKind, ServiceError, type Violation } from "../errors.ts";
import { type IdempotencyKey, type KeyTable, SWEEP_MS } from "./keys.ts";

/** The table of `table.sql`. */
export const IDEMPOTENCY_KEYS: KeyTable = {
  name: "idempotency_keys",
  takenAt: "created_at",
  // What is stored replaces it: a response that is cleared would change the owner's sum too early.
  clear: (sql) => sql``,
};

/** The same table for the deletion of an owner's rows. A response may have megabytes. */
export const IDEMPOTENCY_TABLE: OwnedTable = {
  name: IDEMPOTENCY_KEYS.name,
  key: ["idempotency_key"],
  rows: 50,
};

/** The sums of `bytes.sql`, for the same deletion. The keys come before them. */
export const IDEMPOTENCY_BYTES: OwnedTable = { name: "idempotency_bytes", key: ["owner_id"] };

/** The responses that a service keeps of one owner. */
const ROOM: RoomSettings = {
  bytesMax: 1024 ** 3,
  what: "The responses kept for your idempotency keys of the last 24 hours",
  remedy: "try again later, or without an Idempotency-Key",
};
export interface StoredError {
  kind: ErrorKind;
  detail: string;
  violations: readonly Violation[];
  metadata: Readonly<Record<string, string>>;
}

export function toStoredError({ kind, detail, violations, metadata }: ServiceError): StoredError {
  return { kind, detail, violations, metadata };
}

export function fromStoredError(error: StoredError): ServiceError {
  return new ServiceError(error.kind, error.detail, error);
}

export interface StoredOutcome {
  fingerprint: Buffer;
  /** The encoded message; null when the request ended in `error`. */
  response: Buffer | null;
  error: StoredError | null;
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

/**
 * Comes last in its transaction: it locks the owner's sum, and to exclude deadlocks, nothing may wait after that.
 * @throws ServiceError rate_limited if the owner has no room for it; the transaction must then be rolled back
 */
export async function storeResponse(tx: Sql, { ownerId, key }: IdempotencyKey, response: Uint8Array): Promise<void> {
  await tx`
    update idempotency_keys set response = ${response}, error = null
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
  // Nothing to count. The conversation service has only such responses, and no sums.
  if (response.length === 0) return;
  const [sum] = await tx<{ bytes: number }[]>`select bytes from idempotency_bytes where owner_id = ${ownerId}`;
  if ((sum?.bytes ?? 0) > ROOM.bytesMax)
    throw new ServiceError("rate_limited", fullDetail(ROOM), { retryAfterMs: SWEEP_MS });
}

/** Comes last in its transaction, like `storeResponse`. */
export async function storeError(tx: Sql, { ownerId, key }: IdempotencyKey, error: StoredError): Promise<void> {
  await tx`
    update idempotency_keys set error = ${tx.json(error as never)}, response = null
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}
