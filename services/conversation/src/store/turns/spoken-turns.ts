import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Database, Sql } from "@parley/shared/db/database";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { AgentOnPath } from "../agent-path.ts";
import type { ScheduledCall } from "../conversations.ts";
import { type FillerPlace, newestBefore, type Said } from "../messages.ts";
import { isKept } from "../retention.ts";
import type { SessionKey } from "../session-key.ts";
import type { OpenReply, ReplySoFar, StoredReply } from "./finish-turns.ts";
import type { ToolCallRow } from "./kept-tool-calls.ts";
import type { OpenTurn } from "./take-turns.ts";
import { addToolCall, noticingToolCalls, storingToolCalls } from "./tool-calls.ts";

export interface NewSpokenTurn extends OpenTurn {
  /** Sequence of the user message. */
  seq: number;
  text: string;
  saidAt: Date;
  startedAt: Date | null;
  now: Date;
  /** When the turn's lease ends. */
  until: Date;
}

interface TakenSpokenTurn {
  agentId: string;
  /** Null if it tries a draft. */
  agentVersion: number | null;
  variables: Record<string, VariableValue>;
  /** The conversation's language, a BCP 47 tag. */
  language: string | null;
  /** Whether its models have called tools. */
  hasToolCalls: boolean;
  /** Null while no agent has handed over. */
  agentPath: AgentOnPath[] | null;
  /** What an operator lets the model know. */
  injected: string[] | null;
  /** Whether the conversation belongs to a test. */
  isTest: boolean;
  /** The earlier messages, oldest first; null in a conversation with tool calls. */
  earlier: Said[] | null;
}

/**
 * Claims a call's turn, stores the user message and reads the newest earlier messages, together at most `maxBytes`, in
 * one statement. A turn without a stored reply can be claimed again with the same text, whoever holds it, because its
 * runtime has lost that stream. Returns null when there is no such turn to claim.
 */
export async function takeSpokenTurn(sql: Sql, turn: NewSpokenTurn, maxBytes: number): Promise<TakenSpokenTurn | null> {
  const [taken] = await sql<TakenSpokenTurn[]>`
    with taken as (
      update conversations set
        turn_id = ${turn.turnId}, turn_until = ${turn.until}, message_count = greatest(message_count, ${turn.seq}),
        last_activity_at = ${turn.now}, updated_at = ${turn.now}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and type <> 'CHAT'
        and status = 'IN_PROGRESS' and ${isKept(sql, turn.ownerId, turn.now)}
        and (
          message_count = ${turn.seq - 1} and (turn_until is null or turn_until < ${turn.now})
          or message_count in (${turn.seq}, ${turn.seq + 1}) and exists (
            select from messages
            where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and seq = ${turn.seq}
              and role = 'user' and content = ${turn.text}
          ) and not exists (
            select from messages
            where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and seq = ${turn.seq + 1}
              and (role <> 'assistant' or total_ms is not null or not partial)
          )
        )
      returning agent_id, agent_version, variables, language, has_tool_calls, agent_path, injected, test is not null as is_test
    ), stored as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, started_at)
      select ${turn.ownerId}, ${turn.conversationId}, ${turn.seq}, 'user', ${turn.text}, ${turn.saidAt}, ${turn.startedAt}::timestamptz
      from taken
      on conflict (owner_id, conversation_id, seq) do nothing
    )
    select agent_id, agent_version, variables, language, has_tool_calls, agent_path, injected, is_test, case when not has_tool_calls then (
      select coalesce(json_agg(json_build_object('role', role, 'content', content) order by newest.seq), '[]')
      from ${newestBefore(sql, turn, turn.seq)} where bytes <= ${maxBytes}
    ) end as earlier
    from taken`;
  return taken ?? null;
}

/**
 * Claims a turn of a call in which the user has said nothing, whoever holds it, because its runtime has lost that stream. Returns null
 * when its reply would not be the next message, or replace what was heard so far of the same one.
 */
export async function takeResultTurn(
  sql: Sql,
  turn: OpenReply,
  now: Date,
  until: Date,
): Promise<Omit<TakenSpokenTurn, "earlier"> | null> {
  const [taken] = await sql<Omit<TakenSpokenTurn, "earlier">[]>`
    update conversations set turn_id = ${turn.turnId}, turn_until = ${until}, last_activity_at = ${now}, updated_at = ${now}
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and type <> 'CHAT' and status = 'IN_PROGRESS'
      and ${isKept(sql, turn.ownerId, now)} and (
        message_count = ${turn.replySeq - 1} or message_count = ${turn.replySeq} and exists (
          select from messages
          where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and seq = ${turn.replySeq}
            and role = 'assistant' and partial and total_ms is null
        )
      )
    returning agent_id, agent_version, variables, language, has_tool_calls, agent_path, injected, test is not null as is_test`;
  return taken ?? null;
}

/** How much of a reply was heard. */
interface HeardOfReply extends Omit<StoredReply, keyof ReplySoFar | "totalMs"> {
  content: string;
  toolCalls: ReplySoFar["toolCalls"];
  /** Null when the runtime reports it after its stream broke. */
  by: Omit<ReplySoFar, "content" | "toolCalls"> | null;
  /** Null while more may be heard: the same turn can then be claimed again. */
  totalMs: number | null;
  latency: Partial<TurnLatency> | null;
  startedAt: Date | null;
  /** What the runtime said itself, as places in the content; null for nothing. */
  fillers: readonly FillerPlace[] | null;
}

/** The model's change to the conversation; null for none. */
export interface Decided {
  language: string | null;
  scheduledCall: ScheduledCall | null;
}

/**
 * Stores what was heard of a reply instead of its checkpoints, and ends the turn. Returns false when another turn has
 * taken over.
 */
export async function finishSpokenTurn(
  sql: Sql,
  turn: OpenReply,
  heard: HeardOfReply,
  decided: Decided,
  now: Date,
): Promise<boolean> {
  const finished = await sql`
    with finished as (
      update conversations set message_count = ${turn.replySeq},
        ${noticingToolCalls(sql, sql`turn_id`, [{ ...turn, toolCalls: heard.toolCalls }])} ${released(sql, decided, now)}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
        and status = 'IN_PROGRESS'
      returning owner_id, conversation_id, message_count
    ) ${storingToolCalls(sql, sql`finished`, [{ ...turn, toolCalls: heard.toolCalls }])}
    insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial, partial_reason, provider, model,
      prompt_name, prompt_version, input_tokens, output_tokens, cost_usd_micros, first_word_ms, total_ms, latency, started_at,
      fillers, knowledge)
    select ${turn.ownerId}, ${turn.conversationId}, message_count, 'assistant', ${heard.content}, ${now}, ${heard.partial},
      ${heard.partialReason}::text, ${heard.by?.provider ?? null}, ${heard.by?.model ?? null}, ${heard.by?.promptName ?? null},
      ${heard.by?.promptVersion ?? null}, ${heard.usage.inputTokens ?? null}::integer,
      ${heard.usage.outputTokens ?? null}::integer, ${heard.costUsdMicros}::bigint, ${heard.firstWordMs}::integer, ${heard.totalMs}::integer,
      ${heard.latency && sql.json(heard.latency)}::jsonb, ${heard.startedAt}::timestamptz,
      ${heard.fillers && sql.json(heard.fillers as never)}::jsonb,
      ${heard.knowledge && sql.json(heard.knowledge as never)}::jsonb
    from finished
    on conflict (owner_id, conversation_id, seq) do update set
      content = excluded.content, partial = excluded.partial, partial_reason = excluded.partial_reason,
      provider = coalesce(excluded.provider, messages.provider),
      model = coalesce(excluded.model, messages.model),
      input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
      cost_usd_micros = excluded.cost_usd_micros,
      first_word_ms = excluded.first_word_ms, total_ms = excluded.total_ms, latency = excluded.latency,
      fillers = excluded.fillers, knowledge = coalesce(excluded.knowledge, messages.knowledge),
      started_at = excluded.started_at
    returning seq`;
  return finished.length > 0;
}

/** Ends a turn without a heard reply, and deletes its checkpoints. Returns false when another turn has taken over. */
export async function releaseSpokenTurn(
  sql: Sql,
  turn: OpenReply,
  { toolCalls, ...decided }: Decided & Pick<ReplySoFar, "toolCalls">,
  now: Date,
): Promise<boolean> {
  const ended = await sql`
    with released as (
      update conversations set message_count = ${turn.replySeq - 1},
        ${noticingToolCalls(sql, sql`turn_id`, [{ ...turn, toolCalls }])} ${released(sql, decided, now)}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and turn_id = ${turn.turnId}
        and status = 'IN_PROGRESS'
      returning owner_id, conversation_id
    ) ${storingToolCalls(sql, sql`released`, [{ ...turn, toolCalls }])}, unsaid as (
      delete from messages
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and seq = ${turn.replySeq}
        and exists (select from released)
    )
    select from released`;
  return ended.length > 0;
}

/**
 * Stores a tool call of a model that the runtime asks itself, and what the model decided with it. Returns false when the conversation
 * has ended.
 * @param seq of the reply in which the model made the call; null for the next message
 */
export async function storeDecided(
  db: Database,
  key: SessionKey,
  { language, scheduledCall }: Decided,
  { seq, call }: { seq: number | null; call: ToolCallRow },
  now: Date,
): Promise<boolean> {
  return db.begin(async (tx) => {
    const [decided] = await tx<{ messageCount: number }[]>`
      update conversations set last_activity_at = ${now}, updated_at = ${now}, language = coalesce(${language}, language),
        scheduled_call = coalesce(${scheduledCall && tx.json(scheduledCall as never)}::jsonb, scheduled_call), has_tool_calls = true
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'
      returning message_count`;
    if (decided) await addToolCall(tx, key, seq ?? decided.messageCount + 1, call);
    return decided !== undefined;
  }) as Promise<boolean>;
}

function released(sql: Sql, { language, scheduledCall }: Decided, now: Date) {
  return sql`
    turn_id = null, turn_until = null, last_activity_at = ${now}, updated_at = ${now},
    language = coalesce(${language}, language),
    scheduled_call = coalesce(${scheduledCall && sql.json(scheduledCall as never)}::jsonb, scheduled_call)`;
}

/** A message in the form in which a repeated turn is compared. */
interface StoredMessage {
  role: "user" | "assistant" | "person";
  content: string;
}

export async function findStoredMessage(
  sql: Sql,
  key: Omit<OpenTurn, "turnId">,
  seq: number,
): Promise<StoredMessage | null> {
  const [row] = await sql<StoredMessage[]>`
    select role, content from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${seq}`;
  return row ?? null;
}
