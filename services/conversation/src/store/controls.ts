import type { Sql } from "@parley/shared/db/database";
import { takingOver } from "./agent-path.ts";
import type { TakenOver } from "./conversations.ts";
import { tellRelay } from "./events/tell-relay.ts";
import type { SessionKey } from "./session-key.ts";
import { stillTakenOver } from "./turns/take-turns.ts";

// What operators do with a conversation in progress. Each statement returns nothing when it is not in progress.

const isRunning = (sql: Sql, { ownerId, conversationId }: SessionKey) =>
  sql`owner_id = ${ownerId} and conversation_id = ${conversationId} and status = 'IN_PROGRESS'`;

/** Stores a message of an operator's as the agent's, unless a reply is in progress. @returns its sequence, or null */
export async function insertOperatorMessage(
  sql: Sql,
  key: SessionKey,
  text: string,
  now: Date,
  ends = false,
): Promise<number | null> {
  const [said] = await sql<{ seq: number }[]>`
    with said as (
      update conversations set message_count = message_count + 1, turn_id = null, turn_until = null, last_activity_at = now,
        updated_at = now, ${ends ? sql`status = 'COMPLETED', ended_by = 'operator',` : sql``} taken_over_until = ${stillTakenOver(sql)}
      from (select ${now}::timestamptz as now) as at
      where ${isRunning(sql, key)} and (turn_until is null or turn_until < now)
      returning owner_id, conversation_id, message_count, now
    )
    insert into messages (owner_id, conversation_id, seq, role, content, created_at, by_operator)
    select owner_id, conversation_id, message_count, 'assistant', ${text}, now, true from said
    returning seq`;
  if (said && ends) tellRelay(sql);
  return said?.seq ?? null;
}

/** Ends a conversation, unless a reply is in progress. */
export async function endByOperator(sql: Sql, key: SessionKey, now: Date): Promise<boolean> {
  const { count } = await sql`
    update conversations set status = 'COMPLETED', ended_by = 'operator', turn_id = null, turn_until = null, updated_at = ${now}
    where ${isRunning(sql, key)} and (turn_until is null or turn_until < ${now})`;
  if (count > 0) tellRelay(sql);
  return count > 0;
}

/** Limit for what operators let the model of a conversation know, together. */
const INJECTED_BYTES_MAX = 16 * 1024;

/** @returns false also when there is no room for it */
export async function inject(sql: Sql, key: SessionKey, text: string, now: Date): Promise<boolean> {
  const added = sql`coalesce(injected, '[]') || jsonb_build_array(${text}::text)`;
  const { count } = await sql`
    update conversations set injected = ${added}, updated_at = ${now}
    where ${isRunning(sql, key)} and octet_length((${added})::text) <= ${INJECTED_BYTES_MAX}`;
  return count > 0;
}

export async function setMuted(sql: Sql, key: SessionKey, isMuted: boolean, now: Date): Promise<boolean> {
  const { count } = await sql`
    update conversations set is_muted = ${isMuted}, updated_at = ${now} where ${isRunning(sql, key)}`;
  return count > 0;
}

/** Has an operator answer in the agent's place, unless another one does. One's own again only lasts longer. */
export async function takeOver(
  sql: Sql,
  key: SessionKey,
  by: string,
  idleMs: number,
  now: Date,
): Promise<TakenOver | null> {
  const until = new Date(now.getTime() + idleMs);
  const isOwn = sql`taken_over_until > ${now} and taken_over ->> 'by' = ${by}`;
  const taken = sql.json({ by, since: now.toISOString(), idleMs });
  const [row] = await sql<{ takenOver: TakenOver }[]>`
    update conversations set taken_over = case when ${isOwn} then taken_over else ${taken}::jsonb end, taken_over_until = ${until},
      updated_at = ${now}
    where ${isRunning(sql, key)} and (taken_over is null or taken_over_until <= ${now} or taken_over ->> 'by' = ${by})
    returning taken_over`;
  return row?.takenOver ?? null;
}

export async function giveBack(sql: Sql, key: SessionKey, now: Date): Promise<boolean> {
  const { count } = await sql`
    update conversations set taken_over = null, taken_over_until = null, updated_at = ${now} where ${isRunning(sql, key)}`;
  return count > 0;
}

/** Gives back at most `limit` conversations in which nobody has written for too long. @returns how many */
export async function giveBackIdle(sql: Sql, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    update conversations set taken_over = null, taken_over_until = null, updated_at = ${now}
    where conversation_id = any(array(
      select conversation_id from conversations where taken_over_until <= ${now} order by taken_over_until limit ${limit}
      for update skip locked
    )) and taken_over_until <= ${now}`;
  return count;
}

/** Has another agent answer from the next message on. */
export async function handOverTo(
  sql: Sql,
  key: SessionKey,
  { agentId, agentVersion }: { agentId: string; agentVersion: number },
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update conversations set updated_at = ${now}, ${takingOver(
      sql,
      sql`jsonb_build_object(
      'agentId', ${agentId}::text, 'agentVersion', ${agentVersion}::integer, 'fromSeq', message_count + 1, 'contextFrom', 1, 'voiceAgentId', ${agentId}::text)`,
    )}
    where ${isRunning(sql, key)}`;
  return count > 0;
}
