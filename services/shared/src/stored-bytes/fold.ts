import type { Database, Fragment, Sql } from "../db/database.ts";
import { lockStoredBytes } from "./room.ts";

/** Most changes folded in one transaction. */
const BATCH = 20_000;

/** What the triggers of a service count, for a service with `stored_changes`. */
export interface CountedRows {
  /** A select of `bytes`, which together are what is stored for an owner. */
  bytes(sql: Sql, ownerId: string): Fragment;
  /** A select of rows, if anything is stored for an owner. */
  any(sql: Sql, ownerId: string): Fragment;
}

/**
 * Moves an owner's pending changes into the owner's sum. The first time, and after an operator has deleted the sum, counts
 * everything instead, without holding up writers. Returns 0 when nothing is pending.
 * @param patient without a limit on the time to answer
 */
export async function foldStoredChanges(patient: Database, ownerId: string, counted: CountedRows): Promise<number> {
  return patient.begin(async (tx) => {
    // Waits for a concurrent fold of this owner, such as one whose lease expired.
    await lockStoredBytes(tx, ownerId);
    const known = await tx`select from stored_bytes where owner_id = ${ownerId}`;
    if (known.length > 0) return fold(tx, ownerId, counted);
    await tx`set local statement_timeout = 0`;
    await count(tx, ownerId, counted);
    return 1;
  }) as Promise<number>;
}

async function fold(tx: Sql, ownerId: string, counted: CountedRows): Promise<number> {
  const [folded] = await tx<{ taken: number }[]>`
    with taken as (
      delete from stored_changes where owner_id = ${ownerId} and change_id <= (
        -- A range, because a set would be joined row by row: the table was empty when its statistics were collected.
        select max(change_id) from (
          select change_id from stored_changes where owner_id = ${ownerId} order by change_id limit ${BATCH}
        ) as first
      )
      returning bytes
    ), summed as (
      update stored_bytes set bytes = bytes + (select coalesce(sum(bytes), 0) from taken) where owner_id = ${ownerId}
    )
    select count(*)::integer as taken from taken`;
  const taken = folded?.taken ?? 0;
  // Of an owner for whom nothing is stored, who may be deleted, nothing stays.
  if (taken === 0)
    await tx`delete from stored_bytes where owner_id = ${ownerId} and not exists (${counted.any(tx, ownerId)})`;
  return taken;
}

/** In one statement, which sees a row and its pending change or neither. */
async function count(tx: Sql, ownerId: string, counted: CountedRows): Promise<void> {
  await tx`
    insert into stored_bytes (owner_id, bytes)
    select ${ownerId}, coalesce(sum(bytes), 0) from (
      ${counted.bytes(tx, ownerId)}
      union all select -sum(bytes) from stored_changes where owner_id = ${ownerId}
    ) as counted`;
}

/** How many bytes are stored for an owner, with pending changes; null if there are none or they are not counted yet. */
export async function findStoredBytes(sql: Sql, ownerId: string): Promise<number | null> {
  const [row] = await sql<{ bytes: number }[]>`
    select bytes + (select coalesce(sum(bytes), 0) from stored_changes where owner_id = ${ownerId})::bigint as bytes
    from stored_bytes where owner_id = ${ownerId}`;
  return row?.bytes ?? null;
}
