import type { Sql } from "@parley/shared/db/database";

/** Says that a base has chunks that may lack vectors. */
export async function noteChange(tx: Sql, { ownerId, baseId }: { ownerId: string; baseId: string }): Promise<void> {
  await tx`
    insert into base_vectors (owner_id, base_id, is_complete) values (${ownerId}, ${baseId}, false)
    on conflict (owner_id, base_id) do update set is_complete = false`;
}
