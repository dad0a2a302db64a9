import type { Sql } from "@parley/shared/db/database";
import type { SessionKey } from "../session-key.ts";
import type { ToolCallRow, ToolCallState } from "./kept-tool-calls.ts";
import type { ToolCallKey } from "./tool-ledger.ts";

// The calls of the ledger that a client makes.

/** Such a call, as its result finds it. */
export interface HandedRow {
  toolCallId: string;
  seq: number;
  round: number;
  state: ToolCallState;
  handedAt: Date;
  /** Null when no result is waited for. */
  answerBy: Date | null;
}

/** Those named, and those whose results are waited for. */
export async function findHandedCalls(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  ids: readonly string[],
): Promise<HandedRow[]> {
  return sql<HandedRow[]>`
    select tool_call_id, seq, round, state, handed_at, answer_by from tool_calls
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and handed_at is not null
      and (tool_call_id = any(${ids as string[]}::text[]) or state = 'RUNNING')`;
}

/** Such a call with its result, which is empty while it runs. */
export type HandedCall = Pick<HandedRow, "handedAt" | "answerBy"> & Pick<ToolCallRow, "state" | "result" | "isOutside">;

export async function findHandedCall(
  sql: Sql,
  { ownerId, conversationId, toolCallId }: ToolCallKey,
): Promise<HandedCall | null> {
  const [call] = await sql<HandedCall[]>`
    select handed_at, answer_by, state, result, is_outside from tool_calls
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and tool_call_id = ${toolCallId}
      and handed_at is not null`;
  return call ?? null;
}

/** Several of them, of any owners, in any order; those that do not exist are left out. */
export async function listHandedCallsByKey(
  sql: Sql,
  keys: readonly ToolCallKey[],
): Promise<(HandedCall & ToolCallKey)[]> {
  return sql<(HandedCall & ToolCallKey)[]>`
    select owner_id, conversation_id, tool_call_id, handed_at, answer_by, state, result, is_outside
    from unnest(
      ${keys.map(({ ownerId }) => ownerId)}::text[],
      ${keys.map(({ conversationId }) => conversationId)}::uuid[],
      ${keys.map(({ toolCallId }) => toolCallId)}::text[]
    ) as named (owner_id, conversation_id, tool_call_id)
    join tool_calls using (owner_id, conversation_id, tool_call_id)
    where handed_at is not null`;
}

/** The calls of a reply that its client got. */
export async function listHandedCalls(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  seq: number,
): Promise<{ toolCallId: string; name: string; arguments: string }[]> {
  return sql`
    select tool_call_id, name, arguments from tool_calls
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and seq = ${seq} and handed_at is not null
    order by tool_call_id`;
}
