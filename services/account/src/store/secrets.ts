import type { Sql } from "@parley/shared/db/database";

export interface SecretKey {
  ownerId: string;
  name: string;
}

export interface SecretRow extends SecretKey {
  /** 1, 2, … with each value. */
  version: number;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface SealedSecret extends SecretKey {
  sealedValue: string;
}

/** @returns false if the owner has a secret with this name already */
export async function insertSecret(sql: Sql, row: SecretRow, sealedValue: string): Promise<boolean> {
  const { count } = await sql`
    insert into secrets (owner_id, name, sealed_value, version, created_by, created_at, updated_at)
    values (${row.ownerId}, ${row.name}, ${sealedValue}, ${row.version}, ${row.createdBy}, ${row.createdAt}, ${row.updatedAt})
    on conflict (owner_id, name) do nothing`;
  return count > 0;
}

/** Stores the next version. @returns null if there is no such secret */
export async function updateSecret(
  sql: Sql,
  { ownerId, name }: SecretKey,
  sealedValue: string,
  now: Date,
): Promise<SecretRow | null> {
  const [row] = await sql<SecretRow[]>`
    update secrets set sealed_value = ${sealedValue}, version = version + 1, updated_at = ${now}
    where owner_id = ${ownerId} and name = ${name}
    returning owner_id, name, version, created_by, created_at, updated_at`;
  return row ?? null;
}

export async function deleteSecretRow(sql: Sql, { ownerId, name }: SecretKey): Promise<void> {
  await sql`delete from secrets where owner_id = ${ownerId} and name = ${name}`;
}

/** By name. */
export async function listSecretRows(sql: Sql, ownerId: string): Promise<SecretRow[]> {
  return sql<SecretRow[]>`
    select owner_id, name, version, created_by, created_at, updated_at
    from secrets where owner_id = ${ownerId} order by name`;
}

export async function countSecrets(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from secrets where owner_id = ${ownerId}`;
  return row?.total ?? 0;
}

export async function isSecret(sql: Sql, { ownerId, name }: SecretKey): Promise<boolean> {
  const rows = await sql`select from secrets where owner_id = ${ownerId} and name = ${name}`;
  return rows.length > 0;
}

/** Those of the names that are secrets of the owner, in any order. */
export async function findSealedSecrets(sql: Sql, ownerId: string, names: readonly string[]): Promise<SealedSecret[]> {
  return sql<SealedSecret[]>`
    select owner_id, name, sealed_value
    from secrets where owner_id = ${ownerId} and name = any(${names as string[]})`;
}

/** The secrets of all owners, for maintenance. */
export async function listSecretKeys(sql: Sql): Promise<SecretKey[]> {
  return sql<SecretKey[]>`select owner_id, name from secrets`;
}

/** Locked until the transaction ends; null when it is gone. */
export async function lockSecret(tx: Sql, { ownerId, name }: SecretKey): Promise<SealedSecret | null> {
  const [row] = await tx<SealedSecret[]>`
    select owner_id, name, sealed_value
    from secrets where owner_id = ${ownerId} and name = ${name} for update`;
  return row ?? null;
}

/** The same value, sealed with another key. */
export async function updateSealedValue(sql: Sql, { ownerId, name }: SecretKey, sealedValue: string): Promise<void> {
  await sql`update secrets set sealed_value = ${sealedValue} where owner_id = ${ownerId} and name = ${name}`;
}
