import type { Database, Sql } from "@parley/shared/db/database";
import { lockPlaces, placesTaken } from "./places.ts";

/** The queue of jobs that hang up calls which no process holds. */
export const LOST_QUEUE = "hang-up-lost";

export interface CallKey {
  ownerId: string;
  conversationId: string;
}

export interface CallEnd {
  outcome: "SUCCESS" | "NO_ANSWER" | "BUSY" | "CANCELLED" | "HUNG_UP_EARLY" | "ERROR";
  /** Seconds between connected and ended. */
  durationSeconds: number;
  /** What went wrong, or where the call was transferred. */
  notes: string | null;
}

/** How another process can hang up a call, as JSON: a `FarEnd` of the leg (transport/leg.ts). */
type StoredFarEnd = object;

/**
 * Takes one of an owner's places for calls. Returns false when all are taken, or the call itself is: a
 * call that rang has its place already. A call that another process could not begin may be taken again.
 * @param callsMax of one owner, in all processes
 */
export async function takeCall(
  db: Database,
  call: CallKey & { farEnd: StoredFarEnd | null; processId: string; now: Date; until: Date },
  callsMax: number,
): Promise<boolean> {
  return db.begin(async (tx) => {
    await lockPlaces(tx, call.ownerId);
    const taken = await tx`
      insert into calls (owner_id, conversation_id, process_id, leased_until, started_at, far_end)
      select ${call.ownerId}, ${call.conversationId}, ${call.processId}, ${call.until}, ${call.now},
        ${call.farEnd && tx.json(call.farEnd as never)}::jsonb
      where (
        select count(*) from (${placesTaken(tx, call.ownerId, call.now)}) as places where conversation_id <> ${call.conversationId}
      ) < ${callsMax}
      on conflict (owner_id, conversation_id) do update
        set process_id = excluded.process_id, leased_until = excluded.leased_until, started_at = excluded.started_at,
          far_end = excluded.far_end, is_unbegun = false
        where calls.is_unbegun
      returning 1`;
    return taken.length > 0;
  });
}

/** Whether a process holds the call, as far as is known. */
export async function isHeld(sql: Sql, { ownerId, conversationId }: CallKey): Promise<boolean> {
  const rows = await sql`select from calls where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
  return rows.length > 0;
}

/** How many of an owner's places for calls are taken. */
export async function countPlaces(sql: Sql, ownerId: string, now: Date): Promise<number> {
  const [row] = await sql<{ taken: number }[]>`
    select count(*)::int as taken from (${placesTaken(sql, ownerId, now)}) as places`;
  return row?.taken ?? 0;
}

/**
 * Extends the leases of calls that a process holds. Also asks the database if there are none, which shows whether it is there.
 * @returns the calls that it still holds
 */
export async function extendCalls(
  sql: Sql,
  processId: string,
  calls: readonly CallKey[],
  until: Date,
): Promise<CallKey[]> {
  return sql<CallKey[]>`
    update calls set leased_until = ${until}
    where process_id = ${processId} and (owner_id, conversation_id) in (
      select * from unnest(${calls.map(({ ownerId }) => ownerId)}::text[], ${calls.map((call) => call.conversationId)}::uuid[]))
    returning owner_id, conversation_id`;
}

export async function connectCall(sql: Sql, call: CallKey, farEnd: StoredFarEnd | null, now: Date): Promise<void> {
  await sql`
    update calls set connected_at = ${now}, far_end = ${farEnd && sql.json(farEnd as never)}
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId}`;
}

/** Changes how another process hangs up the call; null if it must not. */
export async function storeFarEnd(sql: Sql, call: CallKey, farEnd: StoredFarEnd | null): Promise<void> {
  await sql`
    update calls set far_end = ${farEnd && sql.json(farEnd as never)}
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId}`;
}

export async function deleteCall(sql: Sql, call: CallKey, processId: string): Promise<void> {
  await sql`
    delete from calls
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId} and process_id = ${processId}`;
}

/** Gives a call to a process that does not exist, so that its lease ends. */
export async function abandonCall(sql: Sql, call: CallKey, nobody: string): Promise<void> {
  await sql`
    update calls set process_id = ${nobody}
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId}`;
}

/** Leaves a claimed call to be claimed again at the end of the lease. */
export async function keepUnbegunCall(sql: Sql, call: CallKey, processId: string): Promise<void> {
  await sql`
    update calls set is_unbegun = true
    where owner_id = ${call.ownerId} and conversation_id = ${call.conversationId} and process_id = ${processId}`;
}

export interface LostCall extends CallKey {
  startedAt: Date;
  connectedAt: Date | null;
  /** Seconds between connected and the end of the lease; null when nobody was connected. */
  durationSeconds: number | null;
  farEnd: StoredFarEnd | null;
}

/** Takes over calls whose process is gone, to be ended. */
export async function claimLostCalls(
  sql: Sql,
  { processId, now, until, limit }: { processId: string; now: Date; until: Date; limit: number },
): Promise<LostCall[]> {
  return sql<LostCall[]>`
    update calls set process_id = ${processId}, leased_until = ${until} where ctid = any(array(
      select ctid from calls where leased_until < ${now} order by leased_until limit ${limit} for update skip locked
    ))
    returning owner_id, conversation_id, started_at, connected_at, far_end,
      extract(epoch from old.leased_until - connected_at)::double precision as duration_seconds`;
}
