import type { Fragment, Sql } from "@parley/shared/db/database";
import type {
  CALL_OUTCOMES,
  CALLING_TYPES,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  ENDED_BY,
} from "@parley/shared/domain/api-names";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { AgentOnPath } from "./agent-path.ts";
import { wantsStarts } from "./events/owner-events.ts";
import { tellRelay } from "./events/tell-relay.ts";
import { isKept, keptFor } from "./retention.ts";
import type { SessionKey } from "./session-key.ts";
import type { Start } from "./start.ts";
import type { StoredTest } from "./turns/tests.ts";

export type TypeName = keyof typeof CONVERSATION_TYPES;
export type OutcomeName = keyof typeof CALL_OUTCOMES;
export type StatusName = keyof typeof CONVERSATION_STATUSES;
export type EndedByName = keyof typeof ENDED_BY;

/** One field of an analysis, with its value or the reason why it has none. */
export interface AnalysisItem {
  name: string;
  value: unknown;
  type: string;
  error?: string;
}

/** A follow-up call that the agent arranged with the user. */
export interface ScheduledCall {
  /** ISO 8601. */
  at: string;
  reason?: string;
}

export interface ConversationRow {
  ownerId: string;
  conversationId: string;
  id: string;
  agentId: string;
  /** The version that it keeps to its end; null: it tries a draft. */
  agentVersion: number | null;
  /** Null while no agent has handed over. */
  agentPath: AgentOnPath[] | null;
  type: TypeName;
  status: StatusName;
  /** How a call ended; null for others. */
  outcome: OutcomeName | null;
  callingType: keyof typeof CALLING_TYPES | null;
  name: string | null;
  /** BCP 47; null while it was not set. */
  language: string | null;
  messageCount: number;
  metadata: Record<string, unknown>;
  variables: Record<string, VariableValue>;
  notes: string | null;
  /** Null when not analyzed. */
  analysis: AnalysisItem[] | null;
  createdBy: string | null;
  toMobileNumber: string | null;
  fromMobileNumber: string | null;
  telephonyProvider: string | null;
  recordingUrl: string | null;
  durationSeconds: number | null;
  /** When the other party of a call that is over was on the line. */
  answeredAt: Date | null;
  roomUrl: string | null;
  roomName: string | null;
  isTestCall: boolean;
  /** The draft of the agent that it tries; null for the agent itself. */
  draftId: string | null;
  scheduledCall: ScheduledCall | null;
  isWidget: boolean;
  /** Null if no start webhook was asked. */
  start: Start | null;
  /** Whether it has yet to begin, because its start webhook may reject it or name another agent; true for good if it is rejected. */
  isStarting: boolean;
  /** The agent that was asked for, if the start webhook named another one. */
  askedAgentId: string | null;
  turnUntil: Date | null;
  lastActivityAt: Date;
  createdAt: Date;
  updatedAt: Date;
  /** The model is not asked, by an operator's wish. */
  isMuted: boolean;
  /** The operator who answers in the agent's place; null for none. */
  takenOver: TakenOver | null;
  /** When the agent answers again unless somebody writes before. */
  takenOverUntil: Date | null;
  /** The run of tests that it belongs to; null for none. */
  testRunId: string | null;
  /** Null while it is in progress, and if it is not known. */
  endedBy: EndedByName | null;
}

/** Who has taken a conversation over. */
export interface TakenOver {
  /** As an actor travels: `key:key_…`. */
  by: string;
  /** ISO 8601. */
  since: string;
}

/** The agent that a conversation has begun with. */
export type SessionAgent = Pick<ConversationRow, "agentId" | "askedAgentId" | "agentVersion" | "isStarting">;

export async function findSessionAgent(sql: Sql, key: SessionKey): Promise<SessionAgent | null> {
  const [row] = await sql<SessionAgent[]>`
    select agent_id, asked_agent_id, agent_version, is_starting from conversations
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  return row ?? null;
}

export const conversationColumns = (sql: Sql) => sql`
  owner_id, conversation_id, id, agent_id, agent_path, type, status, outcome, calling_type, name, language, message_count, metadata, variables,
  notes, analysis, created_by, to_mobile_number, from_mobile_number, telephony_provider, recording_url, duration_seconds, answered_at, room_url,
  room_name, is_test_call, draft_id, scheduled_call, is_widget, start, is_starting, asked_agent_id, turn_until, last_activity_at, created_at, updated_at,
  is_muted, taken_over, taken_over_until, agent_version, test ->> 'runId' as test_run_id, ended_by`;

/** Inserts a session with the agent's greeting as its first message, or without messages when the agent has no greeting. */
export async function insertGreetedSession(
  sql: Sql,
  session: SessionKey & {
    id: string;
    agentId: string;
    /** Null if it tries a draft. */
    agentVersion: number | null;
    /** The draft that the session tries; null for the agent itself. */
    draftId: string | null;
    greeting: string;
    /** Null or absent: it belongs to no test. */
    test?: StoredTest | null;
    /** Whether its start webhook is asked before it begins. */
    isStarting?: boolean;
    metadata: Record<string, unknown>;
    variables: Record<string, VariableValue>;
    now: Date;
  },
): Promise<void> {
  const count = session.greeting === "" ? 0 : 1;
  const isTest = Boolean(session.test);
  const [opened] = await sql<[{ isTold: boolean }]>`
    with opened as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, message_count, metadata, variables,
        created_by, is_test_call, draft_id, test, is_starting, last_activity_at, created_at, updated_at, agent_version)
      values (${session.ownerId}, ${session.conversationId}, ${session.id}, ${session.agentId}, 'CHAT', 'IN_PROGRESS',
        ${count}, ${sql.json(session.metadata as never)}, ${sql.json(session.variables as never)}, ${session.ownerId},
        ${session.draftId !== null || isTest}, ${session.draftId}, ${isTest ? sql.json(session.test as never) : null},
        ${session.isStarting ?? false}, ${session.now}, ${session.now}, ${session.now}, ${session.agentVersion})
      returning owner_id, message_count
    ), greeted as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at)
      select ${session.ownerId}, ${session.conversationId}, 1, 'assistant', ${session.greeting}, ${session.now}
      from opened where message_count = 1
    )
    select ${wantsStarts(sql, sql`opened.owner_id`)} as is_told from opened`;
  if (opened.isTold) tellRelay(sql);
}

/** Returns null also when the conversation is past its owner's retention. */
export async function findConversation(sql: Sql, key: SessionKey, now: Date): Promise<ConversationRow | null> {
  const [row] = await sql<ConversationRow[]>`
    select ${conversationColumns(sql)} from conversations
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
      and ${isKept(sql, key.ownerId, now)}`;
  return row ?? null;
}

/** Several conversations, in any order, also past retention. */
export function listConversationRows(
  sql: Sql,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<ConversationRow[]> {
  return sql<ConversationRow[]>`
    select ${conversationColumns(sql)} from conversations
    where owner_id = ${ownerId} and conversation_id = any(${conversationIds as string[]}::uuid[])`;
}

/** Whether any owner has a conversation with this id, to tell "another owner's" from "none". */
export async function conversationExists(sql: Sql, conversationId: string, now: Date): Promise<boolean> {
  const rows = await sql`
    select 1 from conversations left join owner_settings using (owner_id)
    where conversation_id = ${conversationId} and created_at >= ${keptFor(sql, sql`retention_days`, now)}
    limit 1`;
  return rows.length > 0;
}

/** Notes why a reply failed, in place of an earlier note. */
export async function noteFailure(sql: Sql, key: SessionKey, notes: string, now: Date): Promise<void> {
  await sql`
    update conversations set notes = ${notes}, updated_at = ${now}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and status = 'IN_PROGRESS'`;
}

/**
 * Closes calls whose voice runtime has been silent since `silentSince`: it died, so nobody else will. Returns the
 * number closed.
 * @param notes stored where the call has no notes
 */
export async function closeSilentCalls(
  sql: Sql,
  silentSince: Date,
  notes: string,
  now: Date,
  limit: number,
): Promise<number> {
  const areSilent = sql`
    case when type <> 'CHAT' then status = 'IN_PROGRESS' end and type <> 'WHATSAPP' and last_activity_at < ${silentSince}`;
  const closed = await sql`
    update conversations set status = 'FAILED', outcome = 'ERROR', ended_by = 'system', notes = coalesce(notes, ${notes}),
      updated_at = ${now}
    where ${areSilent} and conversation_id = any(array(${oldest(sql, areSilent, limit)}))
    returning conversation_id`;
  if (closed.length > 0) tellRelay(sql);
  return closed.length;
}

/** The same as `closeSilentChats` for WhatsApp conversations. */
export async function closeSilentThreads(sql: Sql, silentSince: Date, now: Date, limit: number): Promise<number> {
  const isOpen = sql`case when type <> 'CHAT' then status = 'IN_PROGRESS' end and type = 'WHATSAPP'`;
  return closeSilent(sql, isOpen, silentSince, now, limit);
}

/**
 * Ends chats that have been silent since `silentSince`: COMPLETED if the user wrote at least once, else DISCONNECTED.
 * @returns the number ended
 */
export async function closeSilentChats(sql: Sql, silentSince: Date, now: Date, limit: number): Promise<number> {
  return closeSilent(sql, sql`case when type = 'CHAT' then status = 'IN_PROGRESS' end`, silentSince, now, limit);
}

async function closeSilent(sql: Sql, isOpen: Fragment, silentSince: Date, now: Date, limit: number): Promise<number> {
  const areSilent = sql`${isOpen} and last_activity_at < ${silentSince} and (turn_until is null or turn_until < ${now})`;
  const closed = await sql`
    update conversations set
      status = case when name is not null or exists (
        -- A runtime's messages name no conversation.
        select 1 from messages
        where messages.owner_id = conversations.owner_id and messages.conversation_id = conversations.conversation_id
          and role = 'user'
      ) then 'COMPLETED' else 'DISCONNECTED' end, ended_by = 'system', turn_id = null, turn_until = null,
      updated_at = ${now}
    where ${areSilent} and conversation_id = any(array(${oldest(sql, areSilent, limit)}))
    returning conversation_id`;
  if (closed.length > 0) tellRelay(sql);
  return closed.length;
}

/** The ids, locked, rather than the places: a table in partitions has the same places several times (docs/scaling.md). */
function oldest(sql: Sql, areWanted: Fragment, limit: number): Fragment {
  return sql`
    select conversation_id from conversations where ${areWanted} order by created_at limit ${limit} for update skip locked`;
}

/** Stores the analysis of an ended conversation, replacing an earlier one. */
export async function storeAnalysis(
  sql: Sql,
  key: SessionKey,
  items: readonly AnalysisItem[],
  now: Date,
): Promise<void> {
  await sql`
    update conversations set analysis = ${sql.json(items as never)}, updated_at = ${now}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
}
