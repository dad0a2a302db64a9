import type { Sql } from "@parley/shared/db/database";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import { tellRelay } from "../events/tell-relay.ts";
import type { ReplyKnowledge } from "../reply-knowledge.ts";
import type { ToolCallRow } from "./kept-tool-calls.ts";
import { byOwner, isOneRow, notLocked } from "./many-turns.ts";
import type { OpenTurn } from "./take-turns.ts";
import { type CallingReply, noticingToolCalls, storingToolCalls } from "./tool-calls.ts";

/** A turn in progress, and the sequence of its reply. */
export interface OpenReply extends OpenTurn {
  replySeq: number;
}

export interface ReplySoFar {
  content: string;
  toolCalls: readonly ToolCallRow[];
  /** Null for words that no model has said. */
  provider: string | null;
  model: string | null;
  promptName: string | null;
  promptVersion: number | null;
}

export interface StoredReply extends ReplySoFar {
  partial: boolean;
  /** Why its model cut it short, in the provider's words; null if it did not. */
  partialReason: string | null;
  knowledge: ReplyKnowledge | null;
  /** Undefined when the provider did not report it. */
  usage: { inputTokens: number | undefined; outputTokens: number | undefined };
  /** In millionths of a US dollar; null if unknown. */
  costUsdMicros: number | null;
  firstWordMs: number | null;
  totalMs: number;
}

export interface TurnEnd {
  /** Replaces the reply's checkpoint. */
  checkpointed: boolean;
  /** Sets the session's language. */
  language: string | null;
  /** Ends the session, as this. */
  ended: "COMPLETED" | "DISCONNECTED" | null;
  /** An idempotency key, whose answer the reply of a turn becomes that is done. */
  key: string | null;
  /** Whether the turn came to its end, also with a reply that its model cut short. */
  done: boolean;
}

/** A turn with its reply, to be stored. */
export interface FinishedTurn extends OpenReply, TurnEnd {
  reply: StoredReply;
  now: Date;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** A session ends so when its agent ends it, or when its start webhook rejects it. */
const ENDED_BY = { COMPLETED: "agent", DISCONNECTED: "system" } as const;

export function finishedTurn(turn: OpenReply, reply: StoredReply, now: Date, end: TurnEnd): FinishedTurn {
  const { ownerId, conversationId, turnId, replySeq } = turn;
  return { ownerId, conversationId, turnId, replySeq, ...end, reply, now, traceparent: activeTraceparent() ?? null };
}

/**
 * Stores replies and ends their turns in one statement; the turns agree in `checkpointed` and `ended`. Returns the ids of those finished. Unless it is the
 * only one, a turn whose session is locked is left out, so that the others do not wait for it.
 */
export async function finishTurns(sql: Sql, turns: readonly FinishedTurn[]): Promise<ReadonlySet<string>> {
  const { checkpointed, ended } = turns[0] as FinishedTurn;
  // Setting status at all, even to the same value, fires its triggers.
  const finished = await sql<{ turnId: string }[]>`
    with given as ${givenReplies(sql, turns)}, finished as (
      update conversations set
        turn_id = null, turn_until = null, message_count = reply_seq, last_activity_at = now, updated_at = now,
        ${noticingToolCalls(sql, sql`ended_turn_id`, turns.map(callingOf))}
        ${ended ? sql`status = ${ended}, ended_by = ${ENDED_BY[ended]},` : sql``} language = coalesce(new_language, language),
        traceparent = new_traceparent
      from ${turns.length > 1 ? notLocked(sql, sql`true`) : sql`given`}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and turn_id = ended_turn_id and status = 'IN_PROGRESS'
      returning given.*
    ) ${turns.some(({ key }) => key !== null) ? bindingKeys(sql) : sql``} ${storingToolCalls(sql, sql`finished`, turns.map(callingOf))}, stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, partial_reason, provider, model,
        prompt_name, prompt_version, input_tokens, output_tokens, cost_usd_micros, first_word_ms, total_ms, knowledge)
      select owner_id, conversation_id, reply_seq, 'assistant', content, now, is_partial, partial_reason, provider, model,
        prompt_name, prompt_version, input_tokens, output_tokens, cost_usd_micros, first_word_ms, total_ms, knowledge
      from finished
      ${byOwner(sql, turns)}
      ${checkpointed ? replaceCheckpoint(sql) : sql``}
    )
    select ended_turn_id as turn_id from finished`;
  if (ended && finished.length > 0) tellRelay(sql);
  return new Set(finished.map(({ turnId }) => turnId));
}

function callingOf({
  ownerId,
  conversationId,
  turnId,
  replySeq,
  reply: { toolCalls },
}: FinishedTurn): CallingReply & OpenTurn {
  return { ownerId, conversationId, turnId, replySeq, toolCalls };
}

/** Finished turns as an SQL table. */
function givenReplies(sql: Sql, turns: readonly FinishedTurn[]) {
  const [turn] = turns;
  return turn && turns.length === 1 ? givenReply(sql, turn) : manyGivenReplies(sql, turns);
}

/** One reply needs no arrays, which Postgres would parse and join: without them it is quicker (bench/lessons.md). */
function givenReply(sql: Sql, { reply, ...turn }: FinishedTurn) {
  return sql`(
    select ${turn.ownerId}::text as owner_id, ${turn.conversationId}::uuid as conversation_id, ${turn.turnId}::uuid as ended_turn_id,
      ${turn.replySeq}::integer as reply_seq, ${turn.key}::text as key, ${turn.language}::text as new_language,
      ${turn.traceparent}::text as new_traceparent, ${turn.now}::timestamptz as now, ${reply.content}::text as content,
      ${reply.partial}::boolean as is_partial, ${reply.partialReason}::text as partial_reason, ${turn.done}::boolean as is_done,
      ${reply.provider}::text as provider, ${reply.model}::text as model,
      ${reply.promptName}::text as prompt_name, ${reply.promptVersion}::integer as prompt_version,
      ${reply.usage.inputTokens ?? null}::integer as input_tokens, ${reply.usage.outputTokens ?? null}::integer as output_tokens,
      ${reply.costUsdMicros}::bigint as cost_usd_micros,
      ${reply.firstWordMs}::integer as first_word_ms, ${reply.totalMs}::integer as total_ms,
      ${reply.knowledge && sql.json(reply.knowledge as never)}::jsonb as knowledge
  )`;
}

function manyGivenReplies(sql: Sql, turns: readonly FinishedTurn[]) {
  return sql`(
    select owner_id, conversation_id, ended_turn_id, reply_seq, key, new_language, new_traceparent, now, content,
      is_partial::boolean as is_partial, partial_reason, is_done::boolean as is_done, provider, model, prompt_name,
      prompt_version, input_tokens, output_tokens, cost_usd_micros, first_word_ms, total_ms, knowledge::jsonb as knowledge
    from unnest(
      ${turns.map(({ ownerId }) => ownerId)}::text[],
      ${turns.map(({ conversationId }) => conversationId)}::uuid[],
      ${turns.map(({ turnId }) => turnId)}::uuid[],
      ${turns.map(({ replySeq }) => replySeq)}::integer[],
      ${turns.map(({ key }) => key)}::text[],
      ${turns.map(({ language }) => language)}::text[],
      ${turns.map(({ traceparent }) => traceparent)}::text[],
      ${turns.map(({ now }) => now.toISOString())}::text[]::timestamptz[],
      ${turns.map(({ reply }) => reply.content)}::text[],
      ${turns.map(({ reply }) => String(reply.partial))}::text[],
      ${turns.map(({ reply }) => reply.partialReason)}::text[],
      ${turns.map(({ done }) => String(done))}::text[],
      ${turns.map(({ reply }) => reply.provider)}::text[],
      ${turns.map(({ reply }) => reply.model)}::text[],
      ${turns.map(({ reply }) => reply.promptName)}::text[],
      ${turns.map(({ reply }) => reply.promptVersion)}::integer[],
      ${turns.map(({ reply }) => reply.usage.inputTokens ?? null)}::integer[],
      ${turns.map(({ reply }) => reply.usage.outputTokens ?? null)}::integer[],
      ${turns.map(({ reply }) => reply.costUsdMicros)}::bigint[],
      ${turns.map(({ reply }) => reply.firstWordMs)}::integer[],
      ${turns.map(({ reply }) => reply.totalMs)}::integer[],
      ${turns.map(({ reply }) => reply.knowledge && JSON.stringify(reply.knowledge))}::text[]
    ) as given (owner_id, conversation_id, ended_turn_id, reply_seq, key, new_language, new_traceparent, now, content,
      is_partial, partial_reason, is_done, provider, model, prompt_name, prompt_version, input_tokens, output_tokens,
      cost_usd_micros, first_word_ms, total_ms, knowledge)
    where ${isOneRow(sql)}
  )`;
}

function bindingKeys(sql: Sql) {
  return sql`, keyed as (
    update turn_keys set done = is_done, reply_seq = finished.reply_seq from finished
    where turn_keys.owner_id = finished.owner_id and idempotency_key = key and turn_id = ended_turn_id
  )`;
}

function replaceCheckpoint(sql: Sql) {
  return sql`
    on conflict (owner_id, conversation_id, seq) do update set
      content = excluded.content, created_at = excluded.created_at, partial = excluded.partial,
      partial_reason = excluded.partial_reason, provider = excluded.provider, model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      cost_usd_micros = excluded.cost_usd_micros,
      first_word_ms = excluded.first_word_ms, total_ms = excluded.total_ms, knowledge = excluded.knowledge`;
}
