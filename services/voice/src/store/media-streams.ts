import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

/** Whose version of the protocol a media WebSocket speaks. */
export type DialectName = "twilio" | "plivo";

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

/**
 * Takes the streams of tokens that have neither been used nor expired, and marks the tokens as used.
 * @returns the stream of each token, in their order; null if there is none, or if the same token came before
 */
export async function claimMediaStreams(
  sql: Sql,
  tokenDigests: readonly Uint8Array[],
  now: Date,
): Promise<(ExpectedStream | null)[]> {
  const digests = tokenDigests.map((digest) => Buffer.from(digest).toString("hex"));
  const rows = await sql<(ExpectedStream & { digest: string })[]>`
    delete from media_streams
    where token_digest in (select decode(digest, 'hex') from unnest(${digests}::text[]) as asked (digest))
      and expires_at > ${now}
    returning encode(token_digest, 'hex') as digest, owner_id, call_id, dialect`;
  const found = new Map(rows.map(({ digest, ...stream }) => [digest, stream]));
  return digests.map((digest) => {
    const stream = found.get(digest) ?? null;
    found.delete(digest);
    return stream;
  });
}

/** Those that no carrier opened in time. */
export const OLD_MEDIA_STREAMS: OldRows = { table: "media_streams", by: "expires_at", keptMs: 0 };
