import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Plan } from "./owners.ts";

export interface KeyState {
  active: boolean;
  expiresAt: Date | null;
}

export interface KeyRow extends KeyState {
  ownerId: string;
  keyId: string;
  name: string | null;
  prefix: string;
  scopes: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** A key with the limits of its owner's tier. */
export interface GrantRow extends KeyState, Plan {
  ownerId: string;
  keyId: string;
  scopes: string[];
  lastUsedAt: Date | null;
}

export async function insertKey(sql: Sql, row: KeyRow, digest: Buffer): Promise<void> {
  await sql`
    insert into api_keys (owner_id, key_id, name, prefix, digest, scopes, active, expires_at, created_at)
    values (${row.ownerId}, ${row.keyId}, ${row.name}, ${row.prefix}, ${digest}, ${row.scopes}, ${row.active},
      ${row.expiresAt}, ${row.createdAt})`;
}

export async function countKeys(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from api_keys where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}

/** The key with this digest, in any state, unless its owner is deleted. */
export async function findGrant(sql: Sql, digest: Buffer): Promise<GrantRow | null> {
  const [row] = await sql<GrantRow[]>`
    select api_keys.owner_id, key_id, scopes, active, expires_at, last_used_at, tier, custom_rate_limit
    from api_keys join owners using (owner_id)
    where digest = ${digest} and deleted_at is null`;
  return row ?? null;
}

/**
 * Returns the key and locks it until the end of the transaction.
 * @throws ServiceError not_found, also for another owner's key
 */
export async function lockKey(tx: Sql, ownerId: string, keyId: string): Promise<KeyRow> {
  const [row] = isId("key", keyId)
    ? await tx<KeyRow[]>`
        select owner_id, key_id, name, prefix, scopes, active, expires_at, created_at, last_used_at
        from api_keys where owner_id = ${ownerId} and key_id = ${keyId} for update`
    : [];
  if (!row) throw notFound("API key");
  return row;
}

/** Newest first. */
export async function listKeys(sql: Sql, ownerId: string): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select owner_id, key_id, name, prefix, scopes, active, expires_at, created_at, last_used_at
    from api_keys where owner_id = ${ownerId} order by key_id desc`;
}

export async function setKeyActive(sql: Sql, { ownerId, keyId }: KeyRow, active: boolean): Promise<void> {
  await sql`update api_keys set active = ${active} where owner_id = ${ownerId} and key_id = ${keyId}`;
}

/** Records a key's use. If several replicas learn of a use at the same time, one writes it. */
export async function noteKeyUse(sql: Sql, { ownerId, keyId, lastUsedAt }: GrantRow, now: Date): Promise<void> {
  await sql`
    update api_keys set last_used_at = ${now}
    where owner_id = ${ownerId} and key_id = ${keyId} and last_used_at is not distinct from ${lastUsedAt}::timestamptz`;
}

export async function deleteKeyRow(sql: Sql, { ownerId, keyId }: KeyRow): Promise<void> {
  await sql`delete from api_keys where owner_id = ${ownerId} and key_id = ${keyId}`;
}
