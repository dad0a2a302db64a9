import type { Sql } from "@parley/shared/db/database";

/** Lets only one process change an owner's index at a time; held until the transaction ends. */
export async function lockIndex(tx: Sql, ownerId: string): Promise<{ numbered: number; indexed: number }> {
  // Reading a whole block's texts takes long. Planned for its rows and with index scans, as in a search (page.ts): a scan of a table
  // that was small when its statistics were collected is repeated for each row of a batch.
  await tx`
    select set_config('statement_timeout', '0', true), set_config('plan_cache_mode', 'force_custom_plan', true),
      set_config('enable_seqscan', 'off', true)`;
  await tx`insert into search_owners (owner_id) values (${ownerId}) on conflict (owner_id) do nothing`;
  const [state] = await tx<[{ numbered: number; indexed: number }]>`
    select numbered, indexed from search_owners where owner_id = ${ownerId} for update`;
  return state;
}
