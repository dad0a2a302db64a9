import type { Fragment, Sql } from "@parley/shared/db/database";
import type { SessionKey } from "../session-key.ts";
import { bytesOf, bytesOfAll, CALLS_MAX, type KeptToolCall, REPLY_BYTES_MAX, withoutTexts } from "./kept-tool-calls.ts";

/** A reply, and the tools that the model called for it. */
export interface CallingReply extends SessionKey {
  replySeq: number;
  toolCalls: readonly KeptToolCall[];
}

/**
 * Part of a statement that stores what the models of replies called, in place of what is stored of the same reply; nothing for
 * replies without calls.
 * @param done a table of the statement with the `owner_id` and `conversation_id` of those to store
 */
export function storingToolCalls(sql: Sql, done: Fragment, replies: readonly CallingReply[]): Fragment {
  const calling = replies.filter(({ toolCalls }) => toolCalls.length > 0);
  if (calling.length === 0) return sql``;
  return sql`, called as (
    insert into tool_calls (owner_id, conversation_id, seq, calls, bytes)
    select owner_id, conversation_id, calling.seq, calling.calls::jsonb, calling.bytes
    from unnest(
      ${calling.map(({ ownerId }) => ownerId)}::text[],
      ${calling.map(({ conversationId }) => conversationId)}::uuid[],
      ${calling.map(({ replySeq }) => replySeq)}::integer[],
      ${calling.map(({ toolCalls }) => JSON.stringify(toolCalls))}::text[],
      ${calling.map(({ toolCalls }) => bytesOfAll(toolCalls))}::integer[]
    ) as calling (owner_id, conversation_id, seq, calls, bytes)
    join ${done} using (owner_id, conversation_id)
    on conflict (owner_id, conversation_id, seq) do update set calls = excluded.calls, bytes = excluded.bytes
  )`;
}

/**
 * Part of a statement that adds a call to those of a reply that is not stored yet, if there is room.
 * @param done a table of the statement with `owner_id`, `conversation_id` and `message_count`; without a row, nothing is stored
 * @param seq of the reply; null for the next message
 */
export function addingToolCall(sql: Sql, done: Fragment, seq: number | null, call: KeptToolCall): Fragment {
  const bare = withoutTexts(call);
  const hasRoom = sql`tool_calls.bytes + excluded.bytes <= ${REPLY_BYTES_MAX}::integer`;
  return sql`, called as (
    insert into tool_calls (owner_id, conversation_id, seq, calls, bytes)
    select owner_id, conversation_id, coalesce(${seq}::integer, message_count + 1), ${sql.json([call] as never)}::jsonb,
      ${bytesOf(call)}::integer
    from ${done}
    on conflict (owner_id, conversation_id, seq) do update set
      calls = tool_calls.calls || case when ${hasRoom} then excluded.calls else ${sql.json([bare] as never)}::jsonb end,
      bytes = tool_calls.bytes + case when ${hasRoom} then excluded.bytes else ${bytesOf(bare)}::integer end
    where jsonb_array_length(tool_calls.calls) < ${CALLS_MAX}::integer
  )`;
}

/** The most of a conversation's calls that is read at once, the newest. */
export const TOOL_CALLS_BYTES_MAX = 1024 * 1024;
/** Each call counts this many bytes beside its texts; a reply keeps up to 32. */
const ROW_BYTES = 2 * 1024;

export interface ToolCallsRow {
  /** The reply's sequence. */
  seq: number;
  calls: readonly KeptToolCall[];
}

/** The tool calls of a conversation's models, in order; beyond the limit, only the newest. */
export async function listToolCalls(sql: Sql, { ownerId, conversationId }: SessionKey): Promise<ToolCallsRow[]> {
  return sql<ToolCallsRow[]>`
    select seq, calls from (
      select seq, calls, sum(bytes + ${ROW_BYTES}::integer) over (order by seq desc) as total from tool_calls
      where owner_id = ${ownerId} and conversation_id = ${conversationId}
    ) as newest
    where total <= ${TOOL_CALLS_BYTES_MAX}
    order by seq`;
}
