import type { Fragment, Sql } from "@parley/shared/db/database";
import type { SessionKey } from "../session-key.ts";
import { bytesOf, CALLS_MAX, REPLY_BYTES_MAX, type ToolCallRow, withoutTexts } from "./kept-tool-calls.ts";

/** A reply, and the tool calls of its model that were over at once. */
export interface CallingReply extends SessionKey {
  replySeq: number;
  toolCalls: readonly ToolCallRow[];
}

/**
 * Part of a statement that stores what the models of replies called; nothing for replies without calls.
 * @param done a table of the statement with the `owner_id` and `conversation_id` of those to store
 */
export function storingToolCalls(sql: Sql, done: Fragment, replies: readonly CallingReply[]): Fragment {
  const calls = replies.flatMap(({ toolCalls, ...reply }) => toolCalls.map((call) => ({ ...reply, call })));
  if (calls.length === 0) return sql``;
  return sql`, called as (
    insert into tool_calls (owner_id, conversation_id, seq, ${callColumns(sql)})
    select owner_id, conversation_id, calling.seq, ${callColumns(sql)}
    from unnest(
      ${calls.map(({ ownerId }) => ownerId)}::text[],
      ${calls.map(({ conversationId }) => conversationId)}::uuid[],
      ${calls.map(({ replySeq }) => replySeq)}::integer[],
      ${columnsOf(
        sql,
        calls.map(({ call }) => call),
      )}
    ) as calling (owner_id, conversation_id, seq, ${callColumns(sql)})
    join ${done} using (owner_id, conversation_id)
    on conflict do nothing
  )`;
}

/** Part of the same statement, for the `set` of the conversations: later turns look for calls. */
export function noticingToolCalls(
  sql: Sql,
  turnId: Fragment,
  turns: readonly (CallingReply & { turnId: string })[],
): Fragment {
  const calling = turns.filter(({ toolCalls }) => toolCalls.length > 0).map((turn) => turn.turnId);
  return calling.length === 0 ? sql`` : sql`has_tool_calls = has_tool_calls or ${turnId} = any(${calling}::uuid[]),`;
}

export const callColumns = (sql: Sql) => sql`
  tool_call_id, round, place, kind, name, arguments, state, result, is_outside, is_cut, status, note, attempts, started_ms,
  duration_ms, mock`;

/** Calls as arguments of `unnest`, in the order of `callColumns`. */
export function columnsOf(sql: Sql, calls: readonly ToolCallRow[]): Fragment {
  return sql`
    ${calls.map(({ toolCallId }) => toolCallId)}::text[],
    ${calls.map(({ round }) => round)}::integer[],
    ${calls.map(({ place }) => place)}::integer[],
    ${calls.map(({ kind }) => kind)}::text[],
    ${calls.map(({ name }) => name)}::text[],
    ${calls.map((call) => call.arguments)}::text[],
    ${calls.map(({ state }) => state)}::text[],
    ${calls.map(({ result }) => result)}::text[],
    ${calls.map(({ isOutside }) => String(isOutside))}::text[]::boolean[],
    ${calls.map(({ isCut }) => String(isCut))}::text[]::boolean[],
    ${calls.map(({ status }) => status)}::integer[],
    ${calls.map(({ note }) => note)}::text[],
    ${calls.map(({ attempts }) => attempts)}::integer[],
    ${calls.map(({ startedMs }) => startedMs)}::integer[],
    ${calls.map(({ durationMs }) => durationMs)}::integer[],
    ${calls.map(({ mock }) => mock)}::smallint[]`;
}

/**
 * Adds a call that was over at once to those of a reply that is not stored yet, if it has room for a further one. Its conversation
 * must be locked.
 */
export async function addToolCall(sql: Sql, key: SessionKey, seq: number, call: ToolCallRow): Promise<void> {
  const [kept] = await sql<[{ calls: number; bytes: number }]>`
    select count(*)::integer as calls, coalesce(sum(bytes), 0)::integer as bytes from tool_calls
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${seq}`;
  if (kept.calls >= CALLS_MAX) return;
  const isFull = kept.bytes + bytesOf(call) > REPLY_BYTES_MAX;
  await sql`
    insert into tool_calls (owner_id, conversation_id, seq, ${callColumns(sql)})
    select ${key.ownerId}, ${key.conversationId}, ${seq}, added.*
    from unnest(${columnsOf(sql, [isFull ? withoutTexts(call) : call])}) as added`;
}

/** The most of a conversation's calls that is read at once, the newest. */
const TOOL_CALLS_BYTES_MAX = 1024 * 1024;

/** A call that has ended; null if there is none. */
export async function findToolCall(
  sql: Sql,
  { ownerId, conversationId, toolCallId }: SessionKey & { toolCallId: string },
): Promise<ToolCallRow | null> {
  const [call] = await sql<ToolCallRow[]>`
    select ${callColumns(sql)} from tool_calls
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and tool_call_id = ${toolCallId}`;
  return call ?? null;
}

/** A stored call with the sequence of its reply. */
export interface StoredToolCall extends ToolCallRow {
  seq: number;
}

/** Some calls of a conversation, in any order. */
export function listCallsById(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  toolCallIds: readonly string[],
): Promise<StoredToolCall[]> {
  return sql<StoredToolCall[]>`
    select seq, ${callColumns(sql)} from tool_calls
    where owner_id = ${ownerId} and conversation_id = ${conversationId}
      and tool_call_id = any(${toolCallIds as string[]}::text[])`;
}

/**
 * The tool calls of a conversation's models, in order; beyond the limit, only the newest. In a conversation that has ended, a call
 * that nobody makes anymore is UNKNOWN.
 */
export async function listToolCalls(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  now: Date,
): Promise<StoredToolCall[]> {
  return sql<StoredToolCall[]>`
    select seq, tool_call_id, round, place, kind, name, arguments, known_state as state, result, is_outside, is_cut, status,
      note, attempts, started_ms, duration_ms, mock
    from (
      select calls.*, sum(bytes) over (order by tool_call_id desc) as total, case
        when calls.state in ('REQUESTED', 'RUNNING') and coalesce(running_until < ${now}, true)
          and conversations.status <> 'IN_PROGRESS' and coalesce(turn_until < ${now}, true) then 'UNKNOWN'
        else calls.state end as known_state
      from tool_calls as calls join conversations using (owner_id, conversation_id)
      where owner_id = ${ownerId} and conversation_id = ${conversationId}
    ) as newest
    where total <= ${TOOL_CALLS_BYTES_MAX}
    order by tool_call_id`;
}
