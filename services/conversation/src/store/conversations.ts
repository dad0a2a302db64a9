import type { Sql } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import type { VariableValue } from "@parley/shared/variables/values";
import type { SessionKey } from "./turns.ts";

export type TypeName = "CHAT" | "TELEPHONY" | "WHATSAPP" | "DAILY";
export type StatusName = "IN_PROGRESS" | "COMPLETED" | "DISCONNECTED" | "FAILED";

export interface ConversationRow {
  ownerId: string;
  conversationId: string;
  id: string;
  agentId: string;
  type: TypeName;
  status: StatusName;
  callingType: "INBOUND" | "OUTBOUND" | null;
  name: string | null;
  messageCount: number;
  metadata: Record<string, unknown>;
  variables: Record<string, VariableValue>;
  notes: string | null;
  createdBy: string | null;
  toMobileNumber: string | null;
  fromMobileNumber: string | null;
  telephonyProvider: string | null;
  recordingUrl: string | null;
  durationSeconds: number | null;
  roomUrl: string | null;
  roomName: string | null;
  isTestCall: boolean;
  turnUntil: Date | null;
  lastActivityAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: Sql) => sql`
  owner_id, conversation_id, id, agent_id, type, status, calling_type, name, message_count, metadata, variables, notes,
  created_by, to_mobile_number, from_mobile_number, telephony_provider, recording_url, duration_seconds, room_url,
  room_name, is_test_call, turn_until, last_activity_at, created_at, updated_at`;

/** Opens a session whose first message is the agent's greeting, or with none when the agent has none. */
export async function insertGreetedSession(
  sql: Sql,
  session: SessionKey & {
    id: string;
    agentId: string;
    greeting: string;
    metadata: Record<string, unknown>;
    variables: Record<string, VariableValue>;
    now: Date;
  },
): Promise<void> {
  const count = session.greeting === "" ? 0 : 1;
  await sql`
    with opened as (
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, message_count, metadata, variables,
        created_by, last_activity_at, created_at, updated_at)
      values (${session.ownerId}, ${session.conversationId}, ${session.id}, ${session.agentId}, 'CHAT', 'IN_PROGRESS',
        ${count}, ${sql.json(session.metadata as never)}, ${sql.json(session.variables)}, ${session.ownerId}, ${session.now},
        ${session.now}, ${session.now})
      returning message_count
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at)
    select ${session.ownerId}, ${session.conversationId}, 1, 'assistant', ${session.greeting}, ${session.now}
    from opened where message_count = 1`;
}

export async function findConversation(sql: Sql, key: SessionKey): Promise<ConversationRow | null> {
  const [row] = await sql<ConversationRow[]>`
    select ${columns(sql)} from conversations
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}`;
  return row ?? null;
}

/** Whether anybody has a conversation of this id: tells "another owner's" from "none" and reads nothing else of it. */
export async function conversationExists(sql: Sql, conversationId: string): Promise<boolean> {
  const rows = await sql`select 1 from conversations where conversation_id = ${conversationId} limit 1`;
  return rows.length > 0;
}

/** Null and empty fields do not filter. */
export interface ConversationFilter {
  ownerId: string;
  search: string;
  conversationId: string;
  agentId: string;
  type: TypeName | null;
  callingType: "INBOUND" | "OUTBOUND" | null;
  status: StatusName | null;
  from: Date | null;
  to: Date | null;
  /** Minutes after midnight UTC, inclusive of both; from > to wraps midnight. */
  timeOfDay: { from: number; to: number } | null;
}

export const NO_FILTER: Omit<ConversationFilter, "ownerId"> = {
  search: "",
  conversationId: "",
  agentId: "",
  type: null,
  callingType: null,
  status: null,
  from: null,
  to: null,
  timeOfDay: null,
};

function matching(sql: Sql, filter: ConversationFilter) {
  const minute = sql`(extract(hour from created_at at time zone 'UTC') * 60 + extract(minute from created_at at time zone 'UTC'))`;
  return sql`
    owner_id = ${filter.ownerId}
    ${filter.conversationId === "" ? sql`` : sql`and conversation_id = ${filter.conversationId}`}
    ${filter.agentId === "" ? sql`` : sql`and agent_id = ${filter.agentId}`}
    ${filter.type === null ? sql`` : sql`and type = ${filter.type}`}
    ${filter.callingType === null ? sql`` : sql`and calling_type = ${filter.callingType}`}
    ${filter.status === null ? sql`` : sql`and status = ${filter.status}`}
    ${filter.from === null ? sql`` : sql`and created_at >= ${filter.from}`}
    ${filter.to === null ? sql`` : sql`and created_at <= ${filter.to}`}
    ${
      filter.timeOfDay === null
        ? sql``
        : filter.timeOfDay.from <= filter.timeOfDay.to
          ? sql`and ${minute} between ${filter.timeOfDay.from} and ${filter.timeOfDay.to}`
          : sql`and (${minute} >= ${filter.timeOfDay.from} or ${minute} <= ${filter.timeOfDay.to})`
    }
    ${
      filter.search === ""
        ? sql``
        : sql`and (concat_ws(E'\n', metadata::text, variables::text, to_mobile_number, from_mobile_number)
              ilike ${containing(filter.search)}
            or exists (select 1 from messages where messages.owner_id = conversations.owner_id
              and messages.conversation_id = conversations.conversation_id
              and messages.content ilike ${containing(filter.search)}))`
    }`;
}

/** A page of conversations, newest first, and how many match in all. */
export async function listConversationRows(
  sql: Sql,
  filter: ConversationFilter,
  page: { number: number; size: number },
): Promise<{ rows: ConversationRow[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    sql<ConversationRow[]>`
      select ${columns(sql)} from conversations where ${matching(sql, filter)}
      order by created_at desc, conversation_id desc
      limit ${page.size} offset ${(page.number - 1) * page.size}`,
    sql<{ total: number }[]>`select count(*) as total from conversations where ${matching(sql, filter)}`,
  ]);
  return { rows, total: count?.total ?? 0 };
}

/**
 * Ends chats that have been silent since `silentSince`: COMPLETED when the user wrote at least once, else DISCONNECTED
 * (decisions.md: Chat). Returns how many.
 */
export async function closeSilentChats(sql: Sql, silentSince: Date, now: Date, limit: number): Promise<number> {
  const closed = await sql`
    update conversations set
      status = case when name is null then 'DISCONNECTED' else 'COMPLETED' end, turn_id = null, turn_until = null,
      updated_at = ${now}
    where (owner_id, conversation_id) in (
      select owner_id, conversation_id from conversations
      where status = 'IN_PROGRESS' and type = 'CHAT' and last_activity_at < ${silentSince}
        and (turn_until is null or turn_until < ${now})
      order by created_at limit ${limit} for update skip locked
    )
    returning conversation_id`;
  return closed.length;
}
