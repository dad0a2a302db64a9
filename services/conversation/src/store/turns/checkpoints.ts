import type { Sql } from "@parley/shared/db/database";
import type { OpenReply, ReplySoFar } from "./finish-turns.ts";
import { byOwner, isOneRow, notLocked } from "./many-turns.ts";
import { noticingToolCalls, storingToolCalls } from "./tool-calls.ts";

/** A reply in progress, with what has been said of it. */
export interface Checkpoint extends OpenReply {
  reply: ReplySoFar;
  now: Date;
}

/**
 * Stores partial replies in place of their previous checkpoints. Returns the ids of their turns: not those that another turn has taken
 * over, and, unless it is the only one, none whose session is locked.
 */
export async function storeCheckpoints(sql: Sql, turns: readonly Checkpoint[]): Promise<ReadonlySet<string>> {
  const calling = turns.map(({ reply: { toolCalls }, ...turn }) => ({ ...turn, toolCalls }));
  const open = await sql<{ turnId: string }[]>`
    with given as (
      select * from unnest(
        ${turns.map(({ ownerId }) => ownerId)}::text[],
        ${turns.map(({ conversationId }) => conversationId)}::uuid[],
        ${turns.map(({ turnId }) => turnId)}::uuid[],
        ${turns.map(({ replySeq }) => replySeq)}::integer[],
        ${turns.map(({ now }) => now.toISOString())}::text[]::timestamptz[],
        ${turns.map(({ reply }) => reply.content)}::text[],
        ${turns.map(({ reply }) => reply.provider)}::text[],
        ${turns.map(({ reply }) => reply.model)}::text[],
        ${turns.map(({ reply }) => reply.promptName)}::text[],
        ${turns.map(({ reply }) => reply.promptVersion)}::integer[]
      ) as given (owner_id, conversation_id, open_turn_id, reply_seq, now, content, provider, model, prompt_name, prompt_version)
      where ${isOneRow(sql)}
    ), open as (
      update conversations set message_count = reply_seq, ${noticingToolCalls(sql, sql`open_turn_id`, calling)} last_activity_at = now, updated_at = now
      from ${turns.length > 1 ? notLocked(sql, sql`true`) : sql`given`}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and turn_id = open_turn_id and status = 'IN_PROGRESS'
      returning given.*
    ) ${storingToolCalls(sql, sql`open`, calling)}, stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, provider, model, prompt_name,
        prompt_version)
      select owner_id, conversation_id, reply_seq, 'assistant', content, now, true, provider, model, prompt_name, prompt_version
      from open
      ${byOwner(sql, turns)}
      on conflict (owner_id, conversation_id, seq) do update set
        content = excluded.content, created_at = excluded.created_at, provider = excluded.provider, model = excluded.model
    )
    select open_turn_id as turn_id from open`;
  return new Set(open.map(({ turnId }) => turnId));
}
