import type { Sql } from "@parley/shared/db/database";
import { isOneRow, notLocked } from "./many-turns.ts";
import type { OpenTurn } from "./take-turns.ts";
import { type CallingReply, noticingToolCalls, storingToolCalls } from "./tool-calls.ts";

/** A turn whose model has said nothing, to be ended. */
export interface SilentTurn extends OpenTurn, CallingReply {
  /** Becomes the session's language; null leaves it as it is. */
  language: string | null;
  now: Date;
}

/**
 * Ends turns whose models have said nothing. Returns the ids of those ended: not those that another turn has taken over, and, unless
 * it is the only one, none whose session is locked.
 */
export async function releaseTurns(sql: Sql, turns: readonly SilentTurn[]): Promise<ReadonlySet<string>> {
  const released = await sql<{ turnId: string }[]>`
    with given as (
      select * from unnest(
        ${turns.map(({ ownerId }) => ownerId)}::text[],
        ${turns.map(({ conversationId }) => conversationId)}::uuid[],
        ${turns.map(({ turnId }) => turnId)}::uuid[],
        ${turns.map(({ language }) => language)}::text[],
        ${turns.map(({ now }) => now.toISOString())}::text[]::timestamptz[]
      ) as given (owner_id, conversation_id, ended_turn_id, new_language, now)
      where ${isOneRow(sql)}
    ), released as (
      update conversations set
        turn_id = null, turn_until = null, last_activity_at = now, updated_at = now,
        ${noticingToolCalls(sql, sql`ended_turn_id`, turns)} language = coalesce(new_language, language)
      from ${turns.length > 1 ? notLocked(sql, sql`true`) : sql`given`}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and turn_id = ended_turn_id
      returning given.*
    ) ${storingToolCalls(sql, sql`released`, turns)}
    select ended_turn_id as turn_id from released`;
  return new Set(released.map(({ turnId }) => turnId));
}
