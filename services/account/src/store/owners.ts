import type { Sql } from "@parley/shared/db/database";
import type { TIERS } from "@parley/shared/domain/api-names";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";

export type TierName = keyof typeof TIERS;

export interface Plan {
  tier: TierName;
  /** Requests per minute, for a tier without a fixed limit. */
  customRateLimit: number | null;
}

export interface OwnerRow extends Plan {
  ownerId: string;
  name: string;
  email: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Serializes changes to an email until the end of the transaction. */
export async function lockEmail(tx: Sql, email: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('account.email.' || lower(${email}), 0))`;
}

export async function isEmailTaken(sql: Sql, email: string): Promise<boolean> {
  const [row] = await sql`select 1 from owners where lower(email) = lower(${email}) and deleted_at is null`;
  return row !== undefined;
}

export async function insertOwner(sql: Sql, row: OwnerRow): Promise<void> {
  await sql`
    insert into owners (owner_id, name, email, tier, custom_rate_limit, created_at, updated_at)
    values (${row.ownerId}, ${row.name}, ${row.email}, ${row.tier}, ${row.customRateLimit}, ${row.createdAt}, ${row.updatedAt})`;
}

/** @throws ServiceError not_found, also for a deleted owner */
export async function getOwner(sql: Sql, ownerId: string): Promise<OwnerRow> {
  return readOwner(sql, ownerId, sql``);
}

/** Returns the owner and locks it until the end of the transaction. @throws ServiceError not_found */
export async function lockOwner(tx: Sql, ownerId: string): Promise<OwnerRow> {
  return readOwner(tx, ownerId, tx`for update`);
}

/** Newest first, after `afterOwnerId`; from the start for "". */
export async function listOwners(sql: Sql, afterOwnerId: string, limit: number): Promise<OwnerRow[]> {
  return sql<OwnerRow[]>`
    select owner_id, name, email, tier, custom_rate_limit, created_at, updated_at
    from owners
    where deleted_at is null and (${afterOwnerId} = '' or owner_id < ${afterOwnerId})
    order by owner_id desc limit ${limit}`;
}

export async function updateOwner(sql: Sql, row: OwnerRow): Promise<void> {
  await sql`
    update owners
    set name = ${row.name}, tier = ${row.tier}, custom_rate_limit = ${row.customRateLimit}, updated_at = ${row.updatedAt}
    where owner_id = ${row.ownerId}`;
}

/** Keeps the row, so that the owner's data can still be found and deleted. */
export async function markOwnerDeleted(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await sql`update owners set deleted_at = ${now} where owner_id = ${ownerId}`;
}

async function readOwner(sql: Sql, ownerId: string, lock: ReturnType<Sql>): Promise<OwnerRow> {
  const [row] = isId("own", ownerId)
    ? await sql<OwnerRow[]>`
        select owner_id, name, email, tier, custom_rate_limit, created_at, updated_at
        from owners where owner_id = ${ownerId} and deleted_at is null ${lock}`
    : [];
  if (!row) throw notFound("Owner");
  return row;
}
