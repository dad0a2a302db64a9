import type { Database, Sql } from "@parley/shared/db/database";
import type { CallKey } from "./calls.ts";

interface RecordingRow extends CallKey {
  state: "recording" | "ready" | "removing";
  bytes: number;
  finishedAt: Date | null;
}

/**
 * Begins a recording. Returns false when the owner's recordings would together become larger than `ownerBytesMax`.
 * @param bytesMax the most that it may become
 */
export async function insertRecording(
  db: Database,
  { ownerId, conversationId }: CallKey,
  { bytesMax, ownerBytesMax, now }: { bytesMax: number; ownerBytesMax: number; now: Date },
): Promise<boolean> {
  return db.begin(async (tx) => {
    // Two calls must not both take the last room.
    await tx`select pg_advisory_xact_lock(hashtextextended(${ownerId}, 1))`;
    const begun = await tx`
      insert into recordings (owner_id, conversation_id, state, bytes, started_at)
      select ${ownerId}, ${conversationId}, 'recording', ${bytesMax}, ${now}
      where (select coalesce(sum(bytes), 0) from recordings where owner_id = ${ownerId}) + ${bytesMax} <= ${ownerBytesMax}
      on conflict do nothing
      returning 1`;
    return begun.length > 0;
  });
}

export async function findRecording(sql: Sql, { ownerId, conversationId }: CallKey): Promise<RecordingRow | null> {
  const [row] = await sql<RecordingRow[]>`
    select owner_id, conversation_id, state, bytes::double precision as bytes, finished_at from recordings
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return row ?? null;
}

/** Records that the file is complete. Returns the state before; null when the recording must be removed, or is gone. */
export async function finishRecording(
  sql: Sql,
  call: CallKey,
  bytes: number,
  now: Date,
): Promise<RecordingRow["state"] | null> {
  const [finished] = await sql<{ before: RecordingRow["state"] }[]>`
    update recordings set state = 'ready', bytes = ${bytes}, finished_at = coalesce(finished_at, ${now})
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId} and state <> 'removing'
    returning old.state as before`;
  return finished?.before ?? null;
}

/** @returns the ids of those that exist */
export async function markRemoving(sql: Sql, ownerId: string, conversationIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ conversationId: string }[]>`
    update recordings set state = 'removing'
    where owner_id = ${ownerId} and conversation_id = any(${[...conversationIds]}::uuid[])
    returning conversation_id`;
  return rows.map(({ conversationId }) => conversationId);
}

export async function deleteRecording(sql: Sql, { ownerId, conversationId }: CallKey): Promise<void> {
  await sql`delete from recordings where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}
