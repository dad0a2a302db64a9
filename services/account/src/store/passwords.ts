import type { Sql } from "@parley/shared/db/database";

export interface PasswordRow {
  ownerId: string;
  passwordHash: string;
}

/** The password hash of the owner with this email; null without such an owner or a password. */
export async function findPasswordByEmail(sql: Sql, email: string): Promise<PasswordRow | null> {
  const [row] = await sql<PasswordRow[]>`
    select owner_id, password_hash from owners join passwords using (owner_id)
    where lower(email) = lower(${email}) and deleted_at is null`;
  return row ?? null;
}

/** Null for an owner without a password. */
export async function findPasswordHash(sql: Sql, ownerId: string): Promise<string | null> {
  const [row] = await sql<PasswordRow[]>`
    select owner_id, password_hash from passwords where owner_id = ${ownerId}`;
  return row?.passwordHash ?? null;
}

export async function storePassword(sql: Sql, { ownerId, passwordHash }: PasswordRow, now: Date): Promise<void> {
  await sql`
    insert into passwords (owner_id, password_hash, updated_at) values (${ownerId}, ${passwordHash}, ${now})
    on conflict (owner_id) do update
      set password_hash = excluded.password_hash, updated_at = excluded.updated_at`;
}

export async function deletePassword(sql: Sql, ownerId: string): Promise<void> {
  await sql`delete from passwords where owner_id = ${ownerId}`;
}
