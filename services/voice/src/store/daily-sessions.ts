import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { CallEnd, CallKey } from "./calls.ts";

type SessionStatus = "CREATING" | "WAITING" | "IN_PROGRESS" | "ENDED";

export interface NewDailySession extends CallKey {
  agentId: string;
  /** Null: the one that is published when the conversation begins. */
  agentVersion: number | null;
  /** car_…, or `operator`. */
  connection: string;
  roomName: string;
  dynamicVariables: Record<string, unknown>;
  metadata: Record<string, unknown>;
  waitsUntil: Date;
  expiresAt: Date;
  createdAt: Date;
}

export interface DailySession extends NewDailySession {
  roomUrl: string | null;
  sipUri: string | null;
  status: SessionStatus;
  isStarted: boolean;
  /** Daily's id for the other party's stay in the room; null if it is not there. */
  participantId: string | null;
  absentSince: Date | null;
  isOver: boolean;
  answeredAt: Date | null;
  endedAt: Date | null;
  durationSeconds: number | null;
  outcome: CallEnd["outcome"] | null;
  notes: string | null;
  isToComplete: boolean;
  isRoomGone: boolean;
}

/** How many stays in a room are remembered. */
const LEFT_MAX = 20;

const columns = (sql: Sql) => sql`
  owner_id, conversation_id, agent_id, connection, room_name, room_url, sip_uri, dynamic_variables, metadata, status, is_started,
  waits_until, expires_at, participant_id, absent_since, is_over, created_at, answered_at, ended_at, duration_seconds, outcome,
  notes, is_to_complete, is_room_gone, agent_version`;

/** Returns false when the owner has `openMax` sessions that have not ended. */
export async function insertDailySession(tx: Sql, session: NewDailySession, openMax: number): Promise<boolean> {
  // Two requests must not both take the last place.
  await tx`select pg_advisory_xact_lock(hashtextextended(${session.ownerId}, 2))`;
  const { count } = await tx`
    insert into daily_sessions (owner_id, conversation_id, agent_id, connection, room_name, dynamic_variables, metadata,
      waits_until, expires_at, created_at, agent_version)
    select ${session.ownerId}, ${session.conversationId}, ${session.agentId}, ${session.connection}, ${session.roomName},
      ${tx.json(session.dynamicVariables as never)}, ${tx.json(session.metadata as never)}, ${session.waitsUntil},
      ${session.expiresAt}, ${session.createdAt}, ${session.agentVersion}::integer
    where (select count(*) from daily_sessions where owner_id = ${session.ownerId} and status <> 'ENDED') < ${openMax}`;
  return count > 0;
}

export async function findDailySession(sql: Sql, { ownerId, conversationId }: CallKey): Promise<DailySession | null> {
  const [row] = await sql<DailySession[]>`
    select ${columns(sql)} from daily_sessions where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return row ?? null;
}

/** The sessions of an owner that have not ended, which are few. */
export async function listOpenSessions(sql: Sql, ownerId: string): Promise<DailySession[]> {
  return sql<DailySession[]>`
    select ${columns(sql)} from daily_sessions where owner_id = ${ownerId} and status <> 'ENDED'`;
}

/** Finds a session by its room alone, because a webhook has nothing else. */
export async function findSessionOfRoom(sql: Sql, roomName: string): Promise<DailySession | null> {
  const [row] = await sql<DailySession[]>`
    select ${columns(sql)} from daily_sessions where room_name = ${roomName}`;
  return row ?? null;
}

/** Records that Daily has made the room. Returns false when that took so long that the session was given up. */
export async function storeRoom(
  sql: Sql,
  { ownerId, conversationId }: CallKey,
  { roomUrl, sipUri, waitsUntil }: { roomUrl: string; sipUri: string; waitsUntil: Date },
): Promise<boolean> {
  const { count } = await sql`
    update daily_sessions set status = 'WAITING', room_url = ${roomUrl}, sip_uri = ${sipUri}, waits_until = ${waitsUntil}
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status = 'CREATING'`;
  return count > 0;
}

export async function storeStarted(sql: Sql, { ownerId, conversationId }: CallKey): Promise<void> {
  await sql`
    update daily_sessions set is_started = true where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}

/** The other party is in the room. Does nothing for a stay that is over, or while another one continues. */
export async function storeJoined(sql: Sql, { ownerId, conversationId }: CallKey, stay: string): Promise<void> {
  await sql`
    update daily_sessions set participant_id = coalesce(participant_id, ${stay})
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status <> 'ENDED'
      and not ${stay} = any(left_ids)`;
}

/** The other party has left. If that was the stay for which the agent joined or joins, the session is over. */
export async function storeLeft(
  sql: Sql,
  { ownerId, conversationId }: CallKey,
  stay: string,
  isHeld: boolean,
): Promise<void> {
  await sql`
    update daily_sessions set
      left_ids = (array_append(array_remove(left_ids, ${stay}), ${stay}))[greatest(1, cardinality(left_ids) - ${LEFT_MAX - 2}):],
      is_over = is_over or (${isHeld} and coalesce(participant_id, ${stay}) = ${stay}),
      participant_id = nullif(participant_id, ${stay})
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status <> 'ENDED'`;
}

/** The agent must leave. */
export async function storeOver(sql: Sql, { ownerId, conversationId }: CallKey): Promise<void> {
  await sql`
    update daily_sessions set is_over = true
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status <> 'ENDED'`;
}

export async function storeAbsent(
  sql: Sql,
  { ownerId, conversationId }: CallKey,
  absentSince: Date | null,
): Promise<void> {
  await sql`
    update daily_sessions set absent_since = ${absentSince}
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status <> 'ENDED'`;
}

/** The agent is in the room. */
export async function storeAgentJoined(sql: Sql, { ownerId, conversationId }: CallKey, now: Date): Promise<void> {
  await sql`
    update daily_sessions set status = 'IN_PROGRESS', answered_at = coalesce(answered_at, ${now})
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status = 'WAITING'`;
}

/**
 * Ends a session, once. Without a room it never began, and no client knows of it, so there is nothing to complete. What the session was
 * created with is kept only for that.
 * @returns the ended session; null if it had ended before
 */
export async function storeSessionEnd(
  sql: Sql,
  { ownerId, conversationId }: CallKey,
  { outcome, durationSeconds, notes, isToComplete }: CallEnd & { isToComplete: boolean },
  now: Date,
): Promise<DailySession | null> {
  const [session] = await sql<DailySession[]>`
    update daily_sessions set status = 'ENDED', outcome = ${outcome}, notes = ${notes}, ended_at = ${now},
      duration_seconds = ${durationSeconds}, is_to_complete = ${isToComplete} and room_url is not null,
      dynamic_variables = case when ${isToComplete} and room_url is not null then dynamic_variables else '{}' end,
      metadata = case when ${isToComplete} and room_url is not null then metadata else '{}' end
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and status <> 'ENDED'
    returning ${columns(sql)}`;
  return session ?? null;
}

export async function storeCompleted(sql: Sql, { ownerId, conversationId }: CallKey): Promise<void> {
  await sql`
    update daily_sessions set is_to_complete = false, dynamic_variables = '{}', metadata = '{}'
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}

export async function storeRoomGone(sql: Sql, { ownerId, conversationId }: CallKey): Promise<void> {
  await sql`
    update daily_sessions set is_room_gone = true where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}

/** Their conversations are kept for the owner's retention. */
export const OLD_SESSIONS: OldRows = { table: "daily_sessions", by: "ended_at", keptMs: 30 * 24 * 60 * 60_000 };
