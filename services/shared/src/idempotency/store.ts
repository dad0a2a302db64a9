import type { Sql } from "../db/database.ts";
import type { OwnedTable } from "../db/owned-rows.ts";
import { type ErrorKind, ServiceError, type Violation } from "../errors.ts";
import type { IdempotencyKey, KeyTable } from "./keys.ts";

/** The table of `table.sql`. */
export const IDEMPOTENCY_KEYS: KeyTable = {
  name: "idempotency_keys",
  takenAt: "created_at",
  clear: (sql) => sql`response = null, error = null,`,
};

/** The same table for the deletion of an owner's rows. A response may have megabytes. */
export const IDEMPOTENCY_TABLE: OwnedTable = {
  name: IDEMPOTENCY_KEYS.name,
  key: ["idempotency_key"],
  rows: 50,
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
