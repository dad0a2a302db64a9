import type { Sql } from "@parley/shared/db/database";

/** Lets only one process change an owner's index at a time; held until the transaction ends. */
export async function lockIndex(tx: Sql, ownerId: string): Promise<{ numbered: number; indexed: number }> {
  // Reading a whole block's texts takes long.
  await tx`set local statement_timeout = 0`;
  await tx`insert into search_owners (owner_id) values (${ownerId}) on conflict (owner_id) do nothing`;
  const [state] = await tx<[{ numbered: number; indexed: number }]>`
    select numbered, indexed from search_owners where owner_id = ${ownerId} for update`;
  return state;
}
