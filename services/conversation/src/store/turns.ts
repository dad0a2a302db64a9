import type { Sql } from "@parley/shared/db/database";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { TokenUsage } from "../model/port.ts";
import { newestBefore, type Said } from "./messages.ts";
import { isKept } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";

export interface OpenTurn extends SessionKey {
  turnId: string;
}

export interface NewTurn extends OpenTurn {
  agentId: string;
  message: string;
  /** Used when the session has no name yet. */
  name: string;
  metadata: Record<string, unknown>;
  variables: Record<string, VariableValue>;
  now: Date;
  /** When the turn's lease ends. */
  until: Date;
}

/** Inserts a session with its first turn in progress and the user message stored. */
export async function insertSessionWithTurn(sql: Sql, turn: NewTurn & { id: string }): Promise<void> {
  await sql`
    with opened as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, name, message_count, metadata,
        variables, created_by, turn_id, turn_until, last_activity_at, created_at, updated_at)
      values (${turn.ownerId}, ${turn.conversationId}, ${turn.id}, ${turn.agentId}, 'CHAT', 'IN_PROGRESS', ${turn.name}, 1,
        ${sql.json(turn.metadata as never)}, ${sql.json(turn.variables)}, ${turn.ownerId}, ${turn.turnId}, ${turn.until},
        ${turn.now}, ${turn.now}, ${turn.now})
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    values (${turn.ownerId}, ${turn.conversationId}, 1, 'user', ${turn.message}, ${turn.now})`;
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
 * Claims a session's turn, stores the user message and reads the newest earlier messages, together at most `maxBytes`,
 * in one statement. Returns null when the session is missing, another agent's, ended, past retention or in another
 * turn, or when its metadata would grow too large.
 */
export async function takeTurn(sql: Sql, turn: NewTurn, maxBytes: number): Promise<TakenTurn | null> {
  const [taken] = await sql<TakenTurn[]>`
    with taken as (
      update conversations set
        turn_id = ${turn.turnId}, turn_until = ${turn.until}, message_count = message_count + 1,
        name = coalesce(name, ${turn.name}), metadata = metadata || ${sql.json(turn.metadata as never)},
        variables = variables || ${sql.json(turn.variables)}, last_activity_at = ${turn.now}, updated_at = ${turn.now}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and type = 'CHAT'
        and status = 'IN_PROGRESS' and (agent_id = ${turn.agentId}) is true and (turn_until is null or turn_until < ${turn.now})
        and ${isKept(sql, turn.ownerId, turn.now)} and ${isMetadataBounded(sql, turn)}
      returning message_count as seq, variables, language
    ), stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select ${turn.ownerId}, ${turn.conversationId}, seq, 'user', ${turn.message}, ${turn.now} from taken
    )
    select seq, seq + 1 as reply_seq, variables, language, (
      -- A reply that was stored while this statement waited for the session is not seen by it: then nothing is told.
      select case when coalesce(max(newest.seq), 0) = taken.seq - 1 then coalesce(
        json_agg(json_build_object('role', role, 'content', content) order by newest.seq) filter (where bytes <= ${maxBytes}),
        '[]') end
      from ${newestBefore(sql, turn, SEQ_MAX)}
    ) as earlier
    from taken`;
  return taken ?? null;
}

/** Whether a turn's metadata fits in its session's metadata. */
export async function hasRoomForMetadata(sql: Sql, turn: NewTurn): Promise<boolean> {
  const bounded = await sql`
    select from conversations
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and ${isMetadataBounded(sql, turn)}`;
  return bounded.length > 0;
}

/** The same as an SQL condition on a row of `conversations`. */
function isMetadataBounded(sql: Sql, { metadata, variables }: NewTurn) {
  if (Object.keys(metadata).length === 0) return sql`true`;
  return sql`
    octet_length((metadata || ${sql.json(metadata as never)})::text) <= ${METADATA_BYTES_MAX}
    and octet_length((variables || ${sql.json(variables)})::text) <= ${METADATA_BYTES_MAX}`;
}

/** Extends a turn's lease. */
export async function extendTurn(sql: Sql, turn: OpenTurn, until: Date): Promise<void> {
  await sql`
    update conversations set turn_until = ${until}
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}`;
}

export interface ReplySoFar {
  content: string;
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
      returning message_count
    )
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

/**
 * Stores the reply and ends the turn in one statement. `checkpointed` replaces the reply's checkpoint, `language` sets
 * the session's language, `ended` completes the session, and `key` makes a whole reply the answer of that idempotency
 * key. Returns false when another turn has taken over.
 */
export async function finishTurn(
  sql: Sql,
  turn: OpenReply,
  reply: StoredReply,
  now: Date,
  {
    checkpointed,
    language,
    ended,
    key,
  }: { checkpointed: boolean; language: string | null; ended: boolean; key: string | null },
): Promise<boolean> {
  // Setting status at all, even to the same value, fires its triggers.
  const finished = await sql`
    with finished as (
      update conversations set
        turn_id = null, turn_until = null, message_count = ${turn.replySeq}, last_activity_at = ${now}, updated_at = ${now},
        ${ended ? sql`status = 'COMPLETED',` : sql``} language = coalesce(${language}, language),
        traceparent = ${activeTraceparent() ?? null}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
        and status = 'IN_PROGRESS'
      returning message_count
    ), keyed as (
      update turn_keys set done = ${!reply.partial}, reply_seq = message_count from finished
      where owner_id = ${turn.ownerId} and idempotency_key = ${key}::text and turn_id = ${turn.turnId}
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, provider, model, prompt_name,
      prompt_version, input_tokens, output_tokens, first_word_ms, total_ms)
    select ${turn.ownerId}, ${turn.conversationId}, message_count, 'assistant', ${reply.content}, ${now}, ${reply.partial},
      ${reply.provider}, ${reply.model}, ${reply.promptName}, ${reply.promptVersion}, ${reply.usage.inputTokens ?? null},
      ${reply.usage.outputTokens ?? null}, ${reply.firstWordMs}, ${reply.totalMs}
    from finished
    ${checkpointed ? replaceCheckpoint(sql) : sql``}
    returning seq`;
  return finished.length > 0;
}

function replaceCheckpoint(sql: Sql) {
  return sql`
    on conflict (owner_id, conversation_id, seq) do update set
      content = excluded.content, created_at = excluded.created_at, partial = excluded.partial, provider = excluded.provider,
      model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      first_word_ms = excluded.first_word_ms, total_ms = excluded.total_ms`;
}

/** Ends a turn that produced nothing to store. */
export async function releaseTurn(sql: Sql, turn: OpenTurn, now: Date, language: string | null): Promise<void> {
  await sql`
    update conversations set
      turn_id = null, turn_until = null, last_activity_at = ${now}, updated_at = ${now},
      language = coalesce(${language}, language)
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}`;
}
