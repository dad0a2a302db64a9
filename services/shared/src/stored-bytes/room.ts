import type { Sql } from "../db/database.ts";
import type { OwnedTable } from "../db/owned-rows.ts";
import { fullError, type RoomSettings } from "../domain/full.ts";

/** The table of `table.sql`, for the deletion of an owner's rows. The rows that it counts come before it. */
export const STORED_BYTES: OwnedTable = { name: "stored_bytes", key: ["owner_id"] };

/**
 * Does a write that may not make what its owner stores larger than the limit; one that makes it no larger is allowed in
 * any case. Writers of one owner take turns until their transactions end. To exclude deadlocks, comes before any other
 * lock that a writer or `lockStoredBytes` waits for.
 * @param room what the triggers count
 * @throws ServiceError conflict, which `isFull`; the transaction or savepoint must then be rolled back
 */
export async function withinRoom<R>(tx: Sql, ownerId: string, room: RoomSettings, write: () => Promise<R>): Promise<R> {
  await lockStoredBytes(tx, ownerId);
  const before = await findStoredBytes(tx, ownerId);
  const result = await write();
  const after = await findStoredBytes(tx, ownerId);
  if (after > room.bytesMax && after > before) throw fullError(room);
  return result;
}

/**
 * Locks an owner's sum until the transaction ends, for a deletion or a recount: comes before the locks of what is deleted. Not a
 * lock of the row, because an owner's first write is yet to insert it.
 */
export async function lockStoredBytes(tx: Sql, ownerId: string): Promise<void> {
  await tx`
    select pg_advisory_xact_lock(hashtextextended(current_schema() || '.stored_bytes.' || ${ownerId}, 0))`;
}

export async function findStoredBytes(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select bytes from stored_bytes where owner_id = ${ownerId}`;
  return row?.bytes ?? 0;
}
