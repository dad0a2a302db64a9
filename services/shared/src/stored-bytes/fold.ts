import type { Sql } from "../db/database.ts";
import { addingTo, type Fold } from "../folds/fold.ts";

/** The bytes that an owner stores, for a service with `stored_changes`. Of an owner who stores nothing, no row stays. */
export const STORED_BYTES_FOLD: Fold = {
  changes: "stored_changes",
  sums: "stored_bytes",
  adding: (sql, ownerId) => sql`, summed as (
    insert into stored_bytes as known (owner_id, bytes)
    select ${ownerId}, sum(bytes) from taken having count(*) > 0
    ${addingTo(sql, ["owner_id"], ["bytes"])}
  ), emptied as (
    delete from stored_bytes where owner_id = ${ownerId} and bytes = 0 and not exists (select from taken)
  )`,
};

/** How many bytes an owner stores, with pending changes. */
export async function findStoredBytes(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`
    select (
      coalesce((select bytes from stored_bytes where owner_id = ${ownerId}), 0)
      + coalesce((select sum(bytes) from stored_changes where owner_id = ${ownerId}), 0)
    )::bigint as bytes`;
  return row.bytes;
}

/** The owners whose sums are over a limit, without pending changes. */
export async function listOwnersOver(sql: Sql, bytesMax: number): Promise<string[]> {
  const rows = await sql<{ ownerId: string }[]>`select owner_id from stored_bytes where bytes >= ${bytesMax}`;
  return rows.map(({ ownerId }) => ownerId);
}
