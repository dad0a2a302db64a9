import type { Sql } from "@parley/shared/db/database";

/** The owners whose sums are over a limit, without pending changes. */
export async function listOwnersOver(sql: Sql, bytesMax: number): Promise<string[]> {
  const rows = await sql<{ ownerId: string }[]>`select owner_id from stored_bytes where bytes >= ${bytesMax}`;
  return rows.map(({ ownerId }) => ownerId);
}
