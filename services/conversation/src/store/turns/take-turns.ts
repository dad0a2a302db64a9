import type { Fragment, Sql } from "@parley/shared/db/database";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { AgentOnPath } from "../agent-path.ts";
import { wantsStarts } from "../events/owner-events.ts";
import { tellRelay } from "../events/tell-relay.ts";
import { newestBefore, type Said } from "../messages.ts";
import { isKept } from "../retention.ts";
import type { SessionKey } from "../session-key.ts";
import { byOwner, isOneRow, notLocked } from "./many-turns.ts";

export interface OpenTurn extends SessionKey {
  turnId: string;
}

export interface NewTurn extends OpenTurn {
  /** The conversation's type. */
  type: "CHAT" | "WHATSAPP";
  agentId: string;
  /** The draft of the agent that the session tries; null for the agent itself. */
  draftId: string | null;
  /** Of a session that begins: the version that it keeps, null for a draft. */
  agentVersion: number | null;
  /** Whether a visitor of a website writes it in the widget. */
  isWidget?: boolean;
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
  /** Whether its start webhook is asked before it begins. */
  isStarting?: boolean;
}

/** Inserts a session with its first turn in progress and the user message stored. */
export async function insertSessionWithTurn(sql: Sql, session: NewSession): Promise<void> {
  await insertSessionsWithTurns(sql, [session]);
}

/** The same for several sessions: all of them, or none. */
export async function insertSessionsWithTurns(sql: Sql, sessions: readonly NewSession[]): Promise<void> {
  const [opened] = await sql<[{ areTold: boolean }]>`
    with given as ${givenTurns(sql, sessions)}, opened as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, name, message_count, metadata,
        variables, created_by, is_test_call, draft_id, is_widget, is_starting, turn_id, turn_until, last_activity_at, created_at, updated_at,
        agent_version)
      select owner_id, conversation_id, new_id, wanted_agent_id, 'CHAT', 'IN_PROGRESS', new_name, 1, new_metadata,
        new_variables, owner_id, new_draft_id is not null, new_draft_id, from_widget, starts, new_turn_id, until, now, now, now, version
      from given
      ${byOwner(sql, sessions)}
      returning owner_id
    ), said as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select owner_id, conversation_id, 1, 'user', message, now from given
    )
    select coalesce(bool_or(${wantsStarts(sql, sql`opened.owner_id`)}), false) as are_told from opened`;
  if (opened.areTold) tellRelay(sql);
}

/** Turns as an SQL table. */
function givenTurns(sql: Sql, turns: readonly (NewTurn & Partial<NewSession>)[]) {
  const [turn] = turns;
  return turn && turns.length === 1 ? givenTurn(sql, turn) : manyGivenTurns(sql, turns);
}

/** One turn needs no arrays, which Postgres would parse and join: without them it is quicker (bench/lessons.md). */
function givenTurn(sql: Sql, turn: NewTurn & Partial<NewSession>) {
  return sql`(
    select ${turn.ownerId}::text as owner_id, ${turn.conversationId}::uuid as conversation_id, ${turn.turnId}::uuid as new_turn_id,
      ${turn.type}::text as wanted_type, ${turn.id ?? null}::text as new_id, ${turn.agentId}::text as wanted_agent_id,
      ${turn.draftId}::text as new_draft_id, ${turn.isWidget ?? false}::boolean as from_widget,
      ${turn.isStarting ?? false}::boolean as starts, ${turn.message}::text as message, ${turn.name}::text as new_name,
      ${JSON.stringify(turn.metadata)}::text::jsonb as new_metadata,
      ${JSON.stringify(turn.variables)}::text::jsonb as new_variables, ${turn.now}::timestamptz as now,
      ${turn.until}::timestamptz as until, ${turn.agentVersion}::integer as version
  )`;
}

function manyGivenTurns(sql: Sql, turns: readonly (NewTurn & Partial<NewSession>)[]) {
  return sql`(
    select owner_id, conversation_id, new_turn_id, wanted_type, new_id, wanted_agent_id, new_draft_id,
      from_widget::boolean as from_widget, starts::boolean as starts, message, new_name, metadata::jsonb as new_metadata, variables::jsonb as new_variables, now, until, version
    from unnest(
      ${turns.map(({ ownerId }) => ownerId)}::text[],
      ${turns.map(({ conversationId }) => conversationId)}::uuid[],
      ${turns.map(({ turnId }) => turnId)}::uuid[],
      ${turns.map(({ type }) => type)}::text[],
      ${turns.map(({ id }) => id ?? null)}::text[],
      ${turns.map(({ agentId }) => agentId)}::text[],
      ${turns.map(({ draftId }) => draftId)}::text[],
      ${turns.map(({ isWidget = false }) => String(isWidget))}::text[],
      ${turns.map(({ isStarting = false }) => String(isStarting))}::text[],
      ${turns.map(({ message }) => message)}::text[],
      ${turns.map(({ name }) => name)}::text[],
      ${turns.map(({ metadata }) => JSON.stringify(metadata))}::text[],
      ${turns.map(({ variables }) => JSON.stringify(variables))}::text[],
      ${turns.map(({ now }) => now.toISOString())}::text[]::timestamptz[],
      ${turns.map(({ until }) => until.toISOString())}::text[]::timestamptz[],
      ${turns.map(({ agentVersion }) => agentVersion)}::integer[]
    ) as given (owner_id, conversation_id, new_turn_id, wanted_type, new_id, wanted_agent_id, new_draft_id, from_widget, starts,
      message, new_name, metadata, variables, now, until, version)
    where ${isOneRow(sql)}
  )`;
}

export interface TakenTurn {
  /** Sequence of the user message. */
  seq: number;
  /** Sequence of the reply: no other message is added while the turn is held. */
  replySeq: number;
  /** The session's, which is another one than was asked for if the start webhook named one. */
  agentId: string;
  /** Null if it tries a draft. */
  agentVersion: number | null;
  variables: Record<string, VariableValue>;
  /** Whether the conversation has yet to begin, because its start webhook may reject it; absent: no. */
  isStarting?: boolean;
  /** The language that the session was set to, a BCP 47 tag. */
  language: string | null;
  /** Whether its models have called tools. */
  hasToolCalls: boolean;
  /** Null while no agent has handed over. */
  agentPath: AgentOnPath[] | null;
  /** The earlier messages that were requested, oldest first; null when not read, as in a session with tool calls. */
  earlier: Said[] | null;
  /** What an operator lets the model know. */
  injected: string[] | null;
  /** Whether the session belongs to a test; absent: no. */
  isTest?: boolean;
  /** Nobody asks the model: the agent is muted, or an operator answers in its place. Then no turn is taken. */
  isQuiet?: boolean;
  /** Requests to the model before the client gave its results; 0 in a turn that begins with a message. */
  roundsBefore?: number | undefined;
}

/** Limit for the metadata of all messages of a session: each turn rewrites it. */
export const METADATA_BYTES_MAX = 1024 * 1024;

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
        turn_id = case when ${isQuiet(sql)} then null else new_turn_id end,
        turn_until = case when ${isQuiet(sql)} then null else until end, taken_over_until = ${stillTakenOver(sql)}, draft_id = new_draft_id, message_count = message_count + 1, name = coalesce(name, new_name),
        metadata = metadata || new_metadata, variables = variables || new_variables, last_activity_at = now, updated_at = now
      from ${isAlone ? sql`given` : notLocked(sql, isShort)}
      where conversations.owner_id = given.owner_id and conversations.conversation_id = given.conversation_id
        and type = wanted_type and status = 'IN_PROGRESS' and (wanted_agent_id in (agent_id, asked_agent_id)) is true
        and (draft_id is null) = (new_draft_id is null)
        and (turn_until is null or turn_until < now) and ${isKept(sql, sql`given.owner_id`, sql`now`)}
        and ${isMetadataBounded(sql, sql`new_metadata`, sql`new_variables`)}
      returning conversations.owner_id, conversations.conversation_id, new_turn_id as turn_id, turn_id is null as is_quiet,
        message_count as seq, agent_id, agent_version, variables, is_starting, language, has_tool_calls, agent_path, injected,
        test is not null as is_test, message, now
    ), stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select owner_id, conversation_id, seq, 'user', message, now from taken
    )
    select turn_id, is_quiet, seq, seq + 1 as reply_seq, agent_id, agent_version, variables, is_starting, language, has_tool_calls, agent_path, injected, is_test, (
      -- A reply that was stored while this statement waited for the session is not seen by it: then nothing is told.
      select case when not has_tool_calls and coalesce(max(newest.seq), 0) = taken.seq - 1 and ${isRead} then coalesce(
        json_agg(json_build_object('role', role, 'content', content) order by newest.seq) filter (where bytes <= ${maxBytes}),
        '[]') end
      from ${newestBefore(sql, { ownerId: sql`taken.owner_id`, conversationId: sql`taken.conversation_id` }, SEQ_MAX)}
    ) as earlier
    from taken`;
  return new Map(rows.map(({ turnId, ...taken }) => [turnId, taken]));
}

/** Whether an operator keeps the agent from answering; needs `now`. */
function isQuiet(sql: Sql) {
  return sql`(is_muted or coalesce(taken_over_until > now, false))`;
}

/** Until when an operator answers who has, as somebody writes now; needs `now`. */
export function stillTakenOver(sql: Sql) {
  return sql`case when taken_over_until > now
    then now + (taken_over ->> 'idleMs')::double precision * interval '1 millisecond' else taken_over_until end`;
}

/** Whether a turn's metadata fits in its session's metadata. */
export async function hasRoomForMetadata(sql: Sql, turn: NewTurn): Promise<boolean> {
  const isBounded = isMetadataBounded(
    sql,
    sql`${sql.json(turn.metadata as never)}`,
    sql`${sql.json(turn.variables as never)}`,
  );
  const bounded = await sql`
    select from conversations
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and ${isBounded}`;
  return bounded.length > 0;
}

/** The same as an SQL condition on a row of `conversations`. A turn without metadata has no variables either. */
export function isMetadataBounded(sql: Sql, metadata: Fragment, variables: Fragment) {
  return sql`(${metadata} = '{}' or (
    octet_length((metadata || ${metadata})::text) <= ${METADATA_BYTES_MAX}
    and octet_length((variables || ${variables})::text) <= ${METADATA_BYTES_MAX}))`;
}
