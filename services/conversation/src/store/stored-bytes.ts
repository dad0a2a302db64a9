import type { Sql } from "@parley/shared/db/database";
import type { CountedRows } from "@parley/shared/stored-bytes/fold";

/** As the triggers of 0001_conversation count. */
export const CONVERSATIONS: CountedRows = {
  bytes: (sql, ownerId) => sql`
    select sum(500 + octet_length(content)) as bytes from messages where owner_id = ${ownerId}
    union all select sum(conversation_bytes(conversations)) from conversations where owner_id = ${ownerId}
    union all select sum(bytes) from tool_calls where owner_id = ${ownerId}`,
  any: (sql, ownerId) => sql`select from conversations where owner_id = ${ownerId}`,
};

/** The owners whose sums are over a limit, without pending changes. */
export async function listOwnersOver(sql: Sql, bytesMax: number): Promise<string[]> {
  const rows = await sql<{ ownerId: string }[]>`select owner_id from stored_bytes where bytes >= ${bytesMax}`;
  return rows.map(({ ownerId }) => ownerId);
}
