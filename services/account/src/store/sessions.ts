import type { Sql } from "@parley/shared/db/database";
import type { SessionTimes } from "../sign-in/session.ts";

export interface SessionRow extends SessionTimes {
  ownerId: string;
  sessionId: string;
}

export async function insertSession(sql: Sql, row: SessionRow, digest: Buffer): Promise<void> {
  await sql`
    insert into sessions (owner_id, session_id, digest, created_at, last_used_at)
    values (${row.ownerId}, ${row.sessionId}, ${digest}, ${row.createdAt}, ${row.lastUsedAt})`;
}

/** The session with this digest, ended or not, unless its owner is deleted. */
export async function findSession(sql: Sql, digest: Buffer): Promise<SessionRow | null> {
  const [row] = await sql<SessionRow[]>`
    select sessions.owner_id, session_id, sessions.created_at, last_used_at
    from sessions join owners using (owner_id)
    where digest = ${digest} and deleted_at is null`;
  return row ?? null;
}

export async function noteSessionUse(sql: Sql, { ownerId, sessionId }: SessionRow, now: Date): Promise<void> {
  await sql`
    update sessions set last_used_at = ${now} where owner_id = ${ownerId} and session_id = ${sessionId}`;
}

export async function deleteSession(sql: Sql, ownerId: string, sessionId: string): Promise<void> {
  await sql`delete from sessions where owner_id = ${ownerId} and session_id = ${sessionId}`;
}

export async function deleteSessionsOf(sql: Sql, ownerId: string): Promise<void> {
  await sql`delete from sessions where owner_id = ${ownerId}`;
}

/** Deletes a few sessions at a time, more than are added, so that no request pays for many. */
export async function deleteUnusedSessions(sql: Sql, unusedSince: Date): Promise<void> {
  await sql`
    delete from sessions
    where (owner_id, session_id) in (
      select owner_id, session_id from sessions
      where last_used_at <= ${unusedSince}
      order by last_used_at limit 10 for update skip locked
    )`;
}
