import type { Fragment, Sql } from "@parley/shared/db/database";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { TokenUsage } from "../model/port.ts";
import type { KeptToolCall } from "../turn/kept-tool-calls.ts";
import { newestBefore, type Said } from "./messages.ts";
import { isKept } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";
import { type CallingReply, storingToolCalls } from "./tool-calls.ts";

export interface OpenTurn extends SessionKey {
  turnId: string;
}

export interface NewTurn extends OpenTurn {
  /** Of the conversation. */
  type: "CHAT" | "WHATSAPP";
  agentId: string;
  /** The draft of the agent that the session tries; null for the agent itself. */
  draftId: string | null;
  message: string;
  /** Used when the session has no name yet. */
  name: string;
  metadata: Record<string, unknown>;
  variables: Record<string, VariableValue>;
  now: Date;
  /** When the turn's lease ends. */
  until: Date;
}

/** A session that begins with its first turn. */
export interface NewSession extends NewTurn {
  id: string;
}

/** Inserts a session with its first turn in progress and the user message stored. */
export async function insertSessionWithTurn(sql: Sql, session: NewSession): Promise<void> {
  await insertSessionsWithTurns(sql, [session]);
}

/** The same for several sessions: all of them, or none. */
export async function insertSessionsWithTurns(sql: Sql, sessions: readonly NewSession[]): Promise<void> {
  await sql`
    with given as ${givenTurns(sql, sessions)}, opened as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, name, message_count, metadata,
        variables, created_by, is_test_call, draft_id, turn_id, turn_until, last_activity_at, created_at, updated_at)
      select owner_id, conversation_id, new_id, wanted_agent_id, 'CHAT', 'IN_PROGRESS', new_name, 1, new_metadata,
        new_variables, owner_id, new_draft_id is not null, new_draft_id, new_turn_id, until, now, now, now
      from given
      ${byOwner(sql)}
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select owner_id, conversation_id, 1, 'user', message, now from given`;
}

/** Turns as an SQL table. */
function givenTurns(sql: Sql, turns: readonly (NewTurn & { id?: string })[]) {
  return sql`(
    select owner_id, conversation_id, new_turn_id, wanted_type, new_id, wanted_agent_id, new_draft_id, message, new_name,
      metadata::jsonb as new_metadata, variables::jsonb as new_variables, now, until
    from unnest(
      ${turns.map(({ ownerId }) => ownerId)}::text[],
      ${turns.map(({ conversationId }) => conversationId)}::uuid[],
      ${turns.map(({ turnId }) => turnId)}::uuid[],
      ${turns.map(({ type }) => type)}::text[],
      ${turns.map(({ id }) => id ?? null)}::text[],
      ${turns.map(({ agentId }) => agentId)}::text[],
      ${turns.map(({ draftId }) => draftId)}::text[],
      ${turns.map(({ message }) => message)}::text[],
      ${turns.map(({ name }) => name)}::text[],
      ${turns.map(({ metadata }) => JSON.stringify(metadata))}::text[],
      ${turns.map(({ variables }) => JSON.stringify(variables))}::text[],
      ${turns.map(({ now }) => now.toISOString())}::text[]::timestamptz[],
      ${turns.map(({ until }) => until.toISOString())}::text[]::timestamptz[]
    ) as given (owner_id, conversation_id, new_turn_id, wanted_type, new_id, wanted_agent_id, new_draft_id, message, new_name,
      metadata,
      variables, now, until)
    where ${isOneRow(sql)}
  )`;
}

/**
 * Always true. The planner has no statistics of a function's result and so expects a single row, which it joins by key;
 * of a plain list it expects ten, and scans a table that was small when the statement was planned.
 */
function isOneRow(sql: Sql) {
  return sql`num_nulls(owner_id, conversation_id) = 0`;
}

/** Triggers then write what an owner's turns share (0007_usage) in this order, so statements never deadlock over it. */
function byOwner(sql: Sql) {
  return sql`order by owner_id`;
}

/** A turn in progress, and the sequence of its reply. */
export interface OpenReply extends OpenTurn {
  replySeq: number;
}

export interface TakenTurn {
  /** Sequence of the user message. */
  seq: number;
  /** Sequence of the reply: no other message is added while the turn is held. */
  replySeq: number;
  variables: Record<string, VariableValue>;
  /** The language that the session was set to, a BCP 47 tag. */
  language: string | null;
  /** The earlier messages that were requested, oldest first; null when not read. */
  earlier: Said[] | null;
}

/** Limit for the metadata of all messages of a session: each turn rewrites it. */
const METADATA_BYTES_MAX = 1024 * 1024;

/** Above every possible sequence. */
const SEQ_MAX = 2 ** 31 - 1;

/**
 * For one of several turns: limit for the earlier messages that are read, and for what clients gave its session, in bytes.
 * Together they are a small answer, and none makes the others wait.
 */
const SHORT_BYTES_MAX = 16 * 1024;

/**
 * Claims a session's turn, stores the user message and reads the newest earlier messages, together at most `maxBytes`,
 * in one statement. Returns null when the session is missing, of another type, another agent's, ended, past retention or in another
 * turn, or when its metadata would grow too large.
 */
export async function takeTurn(sql: Sql, turn: NewTurn, maxBytes: number): Promise<TakenTurn | null> {
  return (await takeTurns(sql, [turn], maxBytes)).get(turn.turnId) ?? null;
}

/**
 * The same for several turns. Returns those taken, by the turn's id. Unless it is the only one, a turn whose session is
 * locked or has much metadata is left out, so that the others do not wait for it, and long earlier messages are not read.
 */
export async function takeTurns(
  sql: Sql,
  turns: readonly NewTurn[],
  maxBytes: number,
): Promise<ReadonlyMap<string, TakenTurn>> {
  const isAlone = turns.length === 1;
  const isShort = sql`octet_length(free.metadata::text) + octet_length(free.variables::text) <= ${SHORT_BYTES_MAX}`;
  const isRead = isAlone ? sql`true` : sql`coalesce(max(bytes), 0) <= ${SHORT_BYTES_MAX}`;
  const rows = await sql<(TakenTurn & { turnId: string })[]>`
    with given as ${givenTurns(sql, turns)}, taken as (
      update conversations set
        turn_id = new_turn_id, turn_until = until, draft_id = new_draft_id, message_count = message_count + 1, name = coalesce(name, new_name),
        metadata = metadata || new_metadata, variables = variables || new_variables, last_activity_at = now, updated_at = now
      from ${isAlone ? sql`given` : notLocked(sql, isShort)}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and type = wanted_type and status = 'IN_PROGRESS' and (agent_id = wanted_agent_id) is true
        and (draft_id is null) = (new_draft_id is null)
        and (turn_until is null or turn_until < now) and ${isKept(sql, sql`given.owner_id`, sql`now`)}
        and ${isMetadataBounded(sql, sql`new_metadata`, sql`new_variables`)}
      returning conversations.owner_id, conversations.conversation_id, turn_id, message_count as seq, variables, language,
        message, now
    ), stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select owner_id, conversation_id, seq, 'user', message, now from taken
    )
    select turn_id, seq, seq + 1 as reply_seq, variables, language, (
      -- A reply that was stored while this statement waited for the session is not seen by it: then nothing is told.
      select case when coalesce(max(newest.seq), 0) = taken.seq - 1 and ${isRead} then coalesce(
        json_agg(json_build_object('role', role, 'content', content) order by newest.seq) filter (where bytes <= ${maxBytes}),
        '[]') end
      from ${newestBefore(sql, { ownerId: sql`taken.owner_id`, conversationId: sql`taken.conversation_id` }, SEQ_MAX)}
    ) as earlier
    from taken`;
  return new Map(rows.map(({ turnId, ...taken }) => [turnId, taken]));
}

/** Those of the given turns whose session no transaction has locked, as an SQL table; it locks them. `free` is the session. */
function notLocked(sql: Sql, condition: Fragment) {
  return sql`(
    select given.* from given join conversations as free
      on free.owner_id = given.owner_id and free.conversation_id = given.conversation_id and ${condition}
    for update of free skip locked
  ) as given`;
}

/** Whether a turn's metadata fits in its session's metadata. */
export async function hasRoomForMetadata(sql: Sql, turn: NewTurn): Promise<boolean> {
  const isBounded = isMetadataBounded(sql, sql`${sql.json(turn.metadata as never)}`, sql`${sql.json(turn.variables)}`);
  const bounded = await sql`
    select from conversations
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and ${isBounded}`;
  return bounded.length > 0;
}

/** The same as an SQL condition on a row of `conversations`. A turn without metadata has no variables either. */
function isMetadataBounded(sql: Sql, metadata: Fragment, variables: Fragment) {
  return sql`(${metadata} = '{}' or (
    octet_length((metadata || ${metadata})::text) <= ${METADATA_BYTES_MAX}
    and octet_length((variables || ${variables})::text) <= ${METADATA_BYTES_MAX}))`;
}

/** Extends a turn's lease. */
export async function extendTurn(sql: Sql, turn: OpenTurn, until: Date): Promise<void> {
  await sql`
    update conversations set turn_until = ${until}
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}`;
}

export interface ReplySoFar {
  content: string;
  toolCalls: readonly KeptToolCall[];
  provider: string;
  model: string;
  promptName: string | null;
  promptVersion: number | null;
}

/** Stores a partial reply in place of the previous checkpoint. Does nothing when another turn has taken over. */
export async function storeCheckpoint(sql: Sql, turn: OpenReply, reply: ReplySoFar, now: Date): Promise<void> {
  await sql`
    with open as (
      update conversations set message_count = ${turn.replySeq}, last_activity_at = ${now}, updated_at = ${now}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
        and status = 'IN_PROGRESS'
      returning owner_id, conversation_id, message_count
    ) ${storingToolCalls(sql, sql`open`, [{ ...turn, toolCalls: reply.toolCalls }])}
    insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, provider, model, prompt_name,
      prompt_version)
    select ${turn.ownerId}, ${turn.conversationId}, message_count, 'assistant', ${reply.content}, ${now}, true,
      ${reply.provider}, ${reply.model}, ${reply.promptName}, ${reply.promptVersion}
    from open
    on conflict (owner_id, conversation_id, seq) do update set
      content = excluded.content, created_at = excluded.created_at, provider = excluded.provider, model = excluded.model`;
}

export interface StoredReply extends ReplySoFar {
  partial: boolean;
  usage: TokenUsage;
  firstWordMs: number | null;
  totalMs: number;
}

export interface TurnEnd {
  /** Replaces the reply's checkpoint. */
  checkpointed: boolean;
  /** Sets the session's language. */
  language: string | null;
  /** Completes the session. */
  ended: boolean;
  /** An idempotency key, whose answer a whole reply becomes. */
  key: string | null;
}

/** A turn with its reply, to be stored. */
export interface FinishedTurn extends OpenReply, TurnEnd {
  reply: StoredReply;
  now: Date;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

/** Stores the reply and ends the turn in one statement. Returns false when another turn has taken over. */
export async function finishTurn(
  sql: Sql,
  turn: OpenReply,
  reply: StoredReply,
  now: Date,
  end: TurnEnd,
): Promise<boolean> {
  return (await finishTurns(sql, [finishedTurn(turn, reply, now, end)])).has(turn.turnId);
}

export function finishedTurn(turn: OpenReply, reply: StoredReply, now: Date, end: TurnEnd): FinishedTurn {
  const { ownerId, conversationId, turnId, replySeq } = turn;
  return { ownerId, conversationId, turnId, replySeq, ...end, reply, now, traceparent: activeTraceparent() ?? null };
}

/**
 * The same for several turns that agree in `checkpointed` and `ended`. Returns the ids of those finished. Unless it is the
 * only one, a turn whose session is locked is left out, so that the others do not wait for it.
 */
export async function finishTurns(sql: Sql, turns: readonly FinishedTurn[]): Promise<ReadonlySet<string>> {
  const { checkpointed, ended } = turns[0] as FinishedTurn;
  // Setting status at all, even to the same value, fires its triggers.
  const finished = await sql<{ turnId: string }[]>`
    with given as ${givenReplies(sql, turns)}, finished as (
      update conversations set
        turn_id = null, turn_until = null, message_count = reply_seq, last_activity_at = now, updated_at = now,
        ${ended ? sql`status = 'COMPLETED',` : sql``} language = coalesce(new_language, language),
        traceparent = new_traceparent
      from ${turns.length > 1 ? notLocked(sql, sql`true`) : sql`given`}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and turn_id = ended_turn_id and status = 'IN_PROGRESS'
      returning given.*
    ) ${turns.some(({ key }) => key !== null) ? bindingKeys(sql) : sql``} ${storingToolCalls(sql, sql`finished`, turns.map(callingOf))}, stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, provider, model, prompt_name,
        prompt_version, input_tokens, output_tokens, first_word_ms, total_ms)
      select owner_id, conversation_id, reply_seq, 'assistant', content, now, is_partial, provider, model, prompt_name,
        prompt_version, input_tokens, output_tokens, first_word_ms, total_ms
      from finished
      ${byOwner(sql)}
      ${checkpointed ? replaceCheckpoint(sql) : sql``}
    )
    select ended_turn_id as turn_id from finished`;
  return new Set(finished.map(({ turnId }) => turnId));
}

function callingOf({ ownerId, conversationId, replySeq, reply: { toolCalls } }: FinishedTurn): CallingReply {
  return { ownerId, conversationId, replySeq, toolCalls };
}

/** Finished turns as an SQL table. */
function givenReplies(sql: Sql, turns: readonly FinishedTurn[]) {
  return sql`(
    select owner_id, conversation_id, ended_turn_id, reply_seq, key, new_language, new_traceparent, now, content,
      is_partial::boolean as is_partial, provider, model, prompt_name, prompt_version, input_tokens, output_tokens,
      first_word_ms, total_ms
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
      ${turns.map(({ reply }) => reply.provider)}::text[],
      ${turns.map(({ reply }) => reply.model)}::text[],
      ${turns.map(({ reply }) => reply.promptName)}::text[],
      ${turns.map(({ reply }) => reply.promptVersion)}::integer[],
      ${turns.map(({ reply }) => reply.usage.inputTokens ?? null)}::integer[],
      ${turns.map(({ reply }) => reply.usage.outputTokens ?? null)}::integer[],
      ${turns.map(({ reply }) => reply.firstWordMs)}::integer[],
      ${turns.map(({ reply }) => reply.totalMs)}::integer[]
    ) as given (owner_id, conversation_id, ended_turn_id, reply_seq, key, new_language, new_traceparent, now, content,
      is_partial, provider, model, prompt_name, prompt_version, input_tokens, output_tokens, first_word_ms, total_ms)
    where ${isOneRow(sql)}
  )`;
}

function bindingKeys(sql: Sql) {
  return sql`, keyed as (
    update turn_keys set done = not is_partial, reply_seq = finished.reply_seq from finished
    where turn_keys.owner_id = finished.owner_id and idempotency_key = key and turn_id = ended_turn_id
  )`;
}

function replaceCheckpoint(sql: Sql) {
  return sql`
    on conflict (owner_id, conversation_id, seq) do update set
      content = excluded.content, created_at = excluded.created_at, partial = excluded.partial, provider = excluded.provider,
      model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      first_word_ms = excluded.first_word_ms, total_ms = excluded.total_ms`;
}

/** Ends a turn whose model has said nothing. */
export async function releaseTurn(
  sql: Sql,
  turn: OpenReply,
  now: Date,
  { language, toolCalls }: Pick<TurnEnd, "language"> & Pick<ReplySoFar, "toolCalls">,
): Promise<void> {
  await sql`
    with released as (
      update conversations set
        turn_id = null, turn_until = null, last_activity_at = ${now}, updated_at = ${now},
        language = coalesce(${language}, language)
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
      returning owner_id, conversation_id
    ) ${storingToolCalls(sql, sql`released`, [{ ...turn, toolCalls }])}
    select from released`;
}
