import type { Sql } from "@parley/shared/db/database";

/**
 * Deletes the ended calls of conversations that are deleted. Their entries in batches are emptied, so that the batches keep
 * their counts.
 */
export async function forgetEndedCalls(sql: Sql, ownerId: string, conversationIds: readonly string[]): Promise<void> {
  await sql`
    with forgotten as (
      delete from outbound_calls
      where owner_id = ${ownerId} and conversation_id = any(${conversationIds as string[]}::uuid[]) and status = 'ENDED'
      returning batch_id, batch_number
    )
    update batch_calls set to_mobile_number = '', dynamic_variables = '{}'
    from forgotten
    where batch_calls.owner_id = ${ownerId} and batch_calls.batch_id = forgotten.batch_id
      and batch_calls.number = forgotten.batch_number and batch_calls.status = 'ENDED'`;
}
