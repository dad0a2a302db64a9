import type { Sql } from "@parley/shared/db/database";
import { isOneRow, notLocked } from "./many-turns.ts";
import type { OpenTurn } from "./take-turns.ts";

/** A turn in progress, and until when it keeps its session. */
export interface LeasedTurn extends OpenTurn {
  until: Date;
}

/**
 * Extends the leases of turns. Returns the ids of those extended: not those that another turn has taken over, and, unless it is the
 * only one, none whose session is locked.
 */
export async function extendTurns(sql: Sql, turns: readonly LeasedTurn[]): Promise<ReadonlySet<string>> {
  const extended = await sql<{ turnId: string }[]>`
    with given as (
      select * from unnest(
        ${turns.map(({ ownerId }) => ownerId)}::text[],
        ${turns.map(({ conversationId }) => conversationId)}::uuid[],
        ${turns.map(({ turnId }) => turnId)}::uuid[],
        ${turns.map(({ until }) => until.toISOString())}::text[]::timestamptz[]
      ) as given (owner_id, conversation_id, leased_turn_id, new_until)
      where ${isOneRow(sql)}
    )
    update conversations set turn_until = new_until
    from ${turns.length > 1 ? notLocked(sql, sql`true`) : sql`given`}
    where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
      and turn_id = leased_turn_id
    returning leased_turn_id as turn_id`;
  return new Set(extended.map(({ turnId }) => turnId));
}
