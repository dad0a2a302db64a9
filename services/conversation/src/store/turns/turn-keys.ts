import type { Sql } from "@parley/shared/db/database";
import type { IdempotencyKey, KeyTable } from "@parley/shared/idempotency/keys";
import type { StoredError } from "@parley/shared/idempotency/store";
import { isKept } from "../retention.ts";
import type { OpenTurn, TakenTurn } from "./take-turns.ts";

/** The keys of turns, which last longer than a transaction. */
export const TURN_KEYS: KeyTable = {
  name: "turn_keys",
  takenAt: "created_at",
  clear: (sql) => sql`
    conversation_id = null, turn_id = null, user_seq = null, done = false, reply_seq = null, error = null,`,
};

export interface StoredTurn {
  fingerprint: Buffer;
  /** Null only with an error. */
  conversationId: string | null;
  userSeq: number | null;
  done: boolean;
  replySeq: number | null;
  error: StoredError | null;
  /** Whether this turn or another one of its session is in progress. */
  held: boolean;
}

/** Returns the request that a key was claimed for; null when it is free or older than `expiredAt`. */
export async function findTurnKey(
  sql: Sql,
  { ownerId, key }: IdempotencyKey,
  now: Date,
  expiredAt: Date,
): Promise<StoredTurn | null> {
  const [stored] = await sql<StoredTurn[]>`
    select fingerprint, turn_keys.conversation_id, user_seq, done, reply_seq, error,
      coalesce(turn_until >= ${now}, false) as held
    from turn_keys left join conversations
      on conversations.owner_id = turn_keys.owner_id and conversations.conversation_id = turn_keys.conversation_id
    where turn_keys.owner_id = ${ownerId} and idempotency_key = ${key} and turn_keys.created_at > ${expiredAt}`;
  return stored ?? null;
}

export async function bindTurnKey(
  tx: Sql,
  { ownerId, key }: IdempotencyKey,
  turn: OpenTurn & TakenTurn,
): Promise<void> {
  await tx`
    update turn_keys set conversation_id = ${turn.conversationId}, turn_id = ${turn.turnId}, user_seq = ${turn.seq}
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}

/**
 * Keeps that a request needed no reply.
 * @param userSeq of its message, which an operator answers; null for results
 */
export async function endTurnKey(
  tx: Sql,
  { ownerId, key }: IdempotencyKey,
  conversationId: string,
  userSeq: number | null,
): Promise<void> {
  await tx`
    update turn_keys set conversation_id = ${conversationId}, user_seq = ${userSeq}, done = true
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}

export async function storeTurnRefusal(tx: Sql, { ownerId, key }: IdempotencyKey, error: StoredError): Promise<void> {
  await tx`
    update turn_keys set done = true, error = ${tx.json(error as never)}
    where owner_id = ${ownerId} and idempotency_key = ${key}`;
}

type RetakenTurn = Pick<
  TakenTurn,
  | "replySeq"
  | "agentId"
  | "agentVersion"
  | "variables"
  | "isStarting"
  | "language"
  | "hasToolCalls"
  | "agentPath"
  | "injected"
>;

/** Resumes a key's turn from its stored user message when no process is working on it anymore. */
export async function retakeTurn(
  sql: Sql,
  { ownerId, key }: IdempotencyKey,
  turn: OpenTurn,
  now: Date,
  until: Date,
): Promise<RetakenTurn | null> {
  const [retaken] = await sql<RetakenTurn[]>`
    with retaken as (
      update conversations set turn_id = ${turn.turnId}, turn_until = ${until}, last_activity_at = ${now}, updated_at = ${now}
      where owner_id = ${ownerId} and conversation_id = ${turn.conversationId} and status = 'IN_PROGRESS'
        and (turn_until is null or turn_until < ${now}) and ${isKept(sql, ownerId, now)}
        and exists (select 1 from turn_keys where owner_id = ${ownerId} and idempotency_key = ${key} and not done)
      returning message_count + 1 as reply_seq, agent_id, agent_version, variables, is_starting, language, has_tool_calls, agent_path, injected
    ), bound as (
      update turn_keys set turn_id = ${turn.turnId}
      where owner_id = ${ownerId} and idempotency_key = ${key} and exists (select 1 from retaken)
    )
    select reply_seq, agent_id, agent_version, variables, is_starting, language, has_tool_calls, agent_path, injected from retaken`;
  return retaken ?? null;
}

export async function isTurnKeyDone(sql: Sql, { ownerId, key }: IdempotencyKey): Promise<boolean> {
  const [row] = await sql<{ done: boolean }[]>`
    select done from turn_keys where owner_id = ${ownerId} and idempotency_key = ${key}`;
  return row?.done ?? false;
}
