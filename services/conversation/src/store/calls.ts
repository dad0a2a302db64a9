import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Database, Sql } from "@parley/shared/db/database";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { ConversationRow, EndedByName, OutcomeName, StatusName, TypeName } from "./conversations.ts";
import { wantsStarts } from "./events/owner-events.ts";
import { tellRelay } from "./events/tell-relay.ts";
import { bothKnown, type ReplyKnowledge } from "./reply-knowledge.ts";
import { isKept } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";
import type { StoredTest } from "./turns/tests.ts";

// Conversations that another process holds and reports: Parley's voice and messaging services, or a voice runtime. Chats, and the
// turns of message threads, are in turns.ts.

/** The fields that a runtime reports when a conversation starts; null where its type has no such field or the runtime left it out. */
export interface NewCall extends SessionKey {
  agentId: string;
  type: Exclude<TypeName, "CHAT">;
  callingType: ConversationRow["callingType"];
  toMobileNumber: string | null;
  fromMobileNumber: string | null;
  telephonyProvider: string | null;
  roomUrl: string | null;
  roomName: string | null;
  metadata: Record<string, unknown>;
  variables: Record<string, VariableValue>;
  isTestCall: boolean;
  draftId: string | null;
  /** Null: it belongs to no test. */
  test: StoredTest | null;
  /** Null if it tries a draft, or its agent is gone. */
  agentVersion: number | null;
  /** Whether its start webhook is asked before it begins. */
  isStarting?: boolean;
}

/** Returns false when the owner already has a conversation with this id. */
export async function insertCall(sql: Sql, call: NewCall, id: string, now: Date): Promise<boolean> {
  const [inserted] = await sql<{ isTold: boolean }[]>`
    insert into conversations (owner_id, conversation_id, id, agent_id, type, status, calling_type, to_mobile_number,
      from_mobile_number, telephony_provider, room_url, room_name, metadata, variables, is_test_call, draft_id, test, is_starting,
      last_activity_at, created_at, updated_at, agent_version)
    values (${call.ownerId}, ${call.conversationId}, ${id}, ${call.agentId}, ${call.type}, 'IN_PROGRESS',
      ${call.callingType}, ${call.toMobileNumber}, ${call.fromMobileNumber}, ${call.telephonyProvider}, ${call.roomUrl},
      ${call.roomName}, ${sql.json(call.metadata as never)}, ${sql.json(call.variables as never)}, ${call.isTestCall}, ${call.draftId},
      ${call.test && sql.json(call.test as never)}, ${call.isStarting ?? false}, ${now}, ${now}, ${now}, ${call.agentVersion})
    on conflict (owner_id, conversation_id) do nothing
    returning ${wantsStarts(sql, sql`conversations.owner_id`)} as is_told`;
  if (inserted?.isTold) tellRelay(sql);
  return inserted !== undefined;
}

export interface NewMessage {
  seq: number;
  role: "user" | "assistant" | "person";
  content: string;
  createdAt: Date;
  startedAt: Date | null;
  /** The latency of a spoken reply, as its runtime measured it. */
  latency: Partial<TurnLatency> | null;
  /** An assistant's message that an operator had it say. */
  byOperator: boolean;
}

/**
 * Stores the messages that follow message `lastSeq` in one statement, the first reply with what its model was given of knowledge
 * bases. Returns false when the conversation is missing, ended, past retention or a chat, or when `lastSeq` is not its last message.
 */
export async function appendMessages(
  sql: Sql,
  key: SessionKey,
  lastSeq: number,
  messages: readonly NewMessage[],
  now: Date,
): Promise<boolean> {
  const reply = messages.find(({ role, byOperator }) => role === "assistant" && !byOperator)?.seq ?? null;
  const appended = await sql`
    with appended as (
      update conversations set found_knowledge = case when ${reply}::integer is null then found_knowledge end,
        message_count = message_count + ${messages.length}, last_activity_at = ${now}, updated_at = ${now}
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and type <> 'CHAT'
        and status = 'IN_PROGRESS' and message_count = ${lastSeq} and ${isKept(sql, key.ownerId, now)}
      returning old.found_knowledge
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at, started_at, latency, by_operator, knowledge)
    select ${key.ownerId}, ${key.conversationId}, seq, role, content, created_at, started_at, latency::jsonb, by_operator,
      case when seq = ${reply} then appended.found_knowledge end
    from unnest(
      ${messages.map(({ seq }) => seq)}::integer[],
      ${messages.map(({ role }) => role)}::text[],
      ${messages.map(({ content }) => content)}::text[],
      ${messages.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
      ${messages.map(({ startedAt }) => startedAt?.toISOString() ?? null)}::timestamptz[],
      ${messages.map(({ latency }) => latency && JSON.stringify(latency))}::text[],
      ${messages.map(({ byOperator }) => String(byOperator))}::text[]::boolean[]
    ) as message (seq, role, content, created_at, started_at, latency, by_operator), appended
    returning seq`;
  return appended.length > 0;
}

/** Keeps what a model that its runtime asks was given of knowledge bases for its next reply, which is stored with it. */
export async function keepFound(db: Database, key: SessionKey, found: ReplyKnowledge): Promise<void> {
  await db.begin(async (tx) => {
    const [before] = await tx<{ foundKnowledge: ReplyKnowledge | null }[]>`
      select found_knowledge from conversations
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS' for update`;
    if (!before) return;
    const both = bothKnown(before.foundKnowledge, found);
    await tx`
      update conversations set found_knowledge = ${tx.json(both as never)}
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  });
}

/** Null fields stay unchanged. */
export interface CallEnd {
  status: Exclude<StatusName, "IN_PROGRESS">;
  outcome: OutcomeName;
  durationSeconds: number | null;
  answeredAt: Date | null;
  recordingUrl: string | null;
  notes: string | null;
  endedBy: EndedByName | null;
}

/** Ends a conversation in progress: one that is no chat, or a chat of a test. Returns false if there is none. */
export async function endCall(sql: Sql, key: SessionKey, end: CallEnd, now: Date): Promise<boolean> {
  const ended = await sql`
    update conversations set status = ${end.status}, outcome = case when type <> 'CHAT' then ${end.outcome}::text end,
      ended_by = ${end.endedBy},
      duration_seconds = coalesce(${end.durationSeconds}, duration_seconds),
      answered_at = coalesce(${end.answeredAt}, answered_at),
      recording_url = coalesce(${end.recordingUrl}, recording_url), notes = coalesce(${end.notes}, notes), updated_at = ${now},
      traceparent = ${activeTraceparent() ?? null}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and (type <> 'CHAT' or test is not null)
      and status = 'IN_PROGRESS' and ${isKept(sql, key.ownerId, now)}
    returning 1`;
  if (ended.length > 0) tellRelay(sql);
  return ended.length > 0;
}
