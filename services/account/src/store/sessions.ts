import type { Sql } from "@parley/shared/db/database";
import { oldestPlaces } from "@parley/shared/db/oldest-places";

export interface SessionTimes {
  createdAt: Date;
  lastUsedAt: Date;
}

export interface SessionRow extends SessionTimes {
  ownerId: string;
  sessionId: string;
  userAgent: string;
}

export async function insertSession(sql: Sql, row: SessionRow, digest: Buffer): Promise<void> {
  await sql`
    insert into sessions (owner_id, session_id, digest, created_at, last_used_at, user_agent)
    values (${row.ownerId}, ${row.sessionId}, ${digest}, ${row.createdAt}, ${row.lastUsedAt}, ${row.userAgent})`;
}

/** The session with this digest, ended or not, unless its owner is deleted. */
export async function findSession(sql: Sql, digest: Buffer): Promise<SessionRow | null> {
  const [row] = await sql<SessionRow[]>`
    select sessions.owner_id, session_id, sessions.created_at, last_used_at, user_agent
    from sessions join owners using (owner_id)
    where digest = ${digest} and deleted_at is null`;
  return row ?? null;
}

/** The owner's newest sessions, ended or not: at most `limit`. */
export async function listSessionRows(sql: Sql, ownerId: string, limit: number): Promise<SessionRow[]> {
  return sql<SessionRow[]>`
    select owner_id, session_id, created_at, last_used_at, user_agent from sessions
    where owner_id = ${ownerId} order by session_id desc limit ${limit}`;
}

export async function noteSessionUse(sql: Sql, { ownerId, sessionId }: SessionRow, now: Date): Promise<void> {
  await sql`
    update sessions set last_used_at = ${now} where owner_id = ${ownerId} and session_id = ${sessionId}`;
}

/** Returns whether there was one. */
export async function deleteSession(sql: Sql, ownerId: string, sessionId: string): Promise<boolean> {
  const { count } = await sql`delete from sessions where owner_id = ${ownerId} and session_id = ${sessionId}`;
  return count > 0;
}

export async function deleteSessionsOf(sql: Sql, ownerId: string): Promise<void> {
  await sql`delete from sessions where owner_id = ${ownerId}`;
}

/** Deletes a few sessions at a time, more than are added, so that no request pays for many. */
export async function deleteUnusedSessions(sql: Sql, unusedSince: Date): Promise<void> {
  const old = { where: sql`last_used_at <= ${unusedSince}`, by: "last_used_at", limit: 10 };
  await sql`delete from sessions where ctid = any(${oldestPlaces(sql, "sessions", old)})`;
}
