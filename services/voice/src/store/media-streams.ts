import type { Sql } from "@parley/shared/db/database";
import type { DialectName } from "../transport/media-stream/dialects.ts";

export interface ExpectedStream {
  ownerId: string;
  callId: string;
  dialect: DialectName;
}

export async function insertMediaStream(
  sql: Sql,
  stream: ExpectedStream & { tokenDigest: Uint8Array; expiresAt: Date },
): Promise<void> {
  await sql`
    insert into media_streams (owner_id, call_id, dialect, token_digest, expires_at)
    values (${stream.ownerId}, ${stream.callId}, ${stream.dialect}, ${stream.tokenDigest}, ${stream.expiresAt})`;
}

/** Takes the stream of a token that has neither been used nor expired, and marks the token as used; null if there is none. */
export async function claimMediaStream(sql: Sql, tokenDigest: Uint8Array, now: Date): Promise<ExpectedStream | null> {
  const [row] = await sql<ExpectedStream[]>`
    delete from media_streams where token_digest = ${tokenDigest} and expires_at > ${now}
    returning owner_id, call_id, dialect`;
  return row ?? null;
}

/** Deletes at most `limit` streams that expired before `before`. @returns the number deleted */
export async function deleteExpiredMediaStreams(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from media_streams where (token_digest, owner_id) in (
      select token_digest, owner_id from media_streams where expires_at < ${before} order by expires_at limit ${limit})`;
  return count;
}
