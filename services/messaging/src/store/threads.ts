import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

/** An owner's connection to a channel, such as a number. */
export interface NumberKey {
  ownerId: string;
  carrierId: string;
}

/** A person and an owner's number who write to each other. */
export interface ThreadKey extends NumberKey {
  /** The person, as the channel names it. */
  contact: string;
}

export interface Thread extends ThreadKey {
  channel: string;
  conversationId: string | null;
  agentId: string | null;
  turnId: string | null;
  turnText: string | null;
  turnWasSpoken: boolean;
  turnBeganAt: Date | null;
  turnAttempts: number;
  turnDueAt: Date | null;
}

/** The turn in progress of a thread. */
export interface OpenTurn extends ThreadKey {
  channel: string;
  conversationId: string;
  agentId: string;
  turnId: string;
  turnText: string;
  turnWasSpoken: boolean;
  turnBeganAt: Date;
  turnAttempts: number;
  turnDueAt: Date;
}

const isThread = (sql: Sql, { ownerId, carrierId, contact }: ThreadKey) =>
  sql`owner_id = ${ownerId} and carrier_id = ${carrierId} and contact = ${contact}`;

export async function findThread(sql: Sql, key: ThreadKey): Promise<Thread | null> {
  const [row] = await sql<Thread[]>`
    select owner_id, carrier_id, contact, channel, conversation_id, agent_id, turn_id, turn_text, turn_was_spoken, turn_began_at,
      turn_attempts, turn_due_at
    from threads where ${isThread(sql, key)}`;
  return row ?? null;
}

/** The thread whose newest conversation this is; null for none. */
export async function findThreadOf(
  sql: Sql,
  ownerId: string,
  conversationId: string,
): Promise<(ThreadKey & { channel: string; agentId: string }) | null> {
  const [row] = await sql<(ThreadKey & { channel: string; agentId: string })[]>`
    select owner_id, carrier_id, contact, channel, agent_id from threads
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and agent_id is not null`;
  return row ?? null;
}

/** Makes the person's next message part of this conversation. */
export async function setConversation(
  sql: Sql,
  key: ThreadKey,
  { channel, conversationId, agentId }: { channel: string; conversationId: string; agentId: string },
  now: Date,
): Promise<void> {
  await sql`
    insert into threads (owner_id, carrier_id, contact, channel, conversation_id, agent_id, updated_at)
    values (${key.ownerId}, ${key.carrierId}, ${key.contact}, ${channel}, ${conversationId}, ${agentId}, ${now})
    on conflict (owner_id, carrier_id, contact) do update set
      conversation_id = excluded.conversation_id, agent_id = excluded.agent_id, updated_at = excluded.updated_at`;
}

/**
 * Makes the person's next message part of another conversation.
 * @param before the conversation so far
 * @returns false if another process has replaced it already
 */
export async function replaceConversation(
  sql: Sql,
  key: ThreadKey,
  before: string | null,
  { conversationId, agentId }: { conversationId: string; agentId: string },
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update threads set conversation_id = ${conversationId}, agent_id = ${agentId}, updated_at = ${now}
    where ${isThread(sql, key)} and conversation_id is not distinct from ${before}`;
  return count > 0;
}

/**
 * Begins a turn with these messages, whose contents it takes. Others stay, even earlier ones that were stored in the meantime.
 * @returns false if another process has begun a turn with them or has replaced the conversation, or one was edited or deleted
 */
export async function beginTurn(
  tx: Sql,
  key: ThreadKey & { conversationId: string },
  turn: {
    turnId: string;
    text: string;
    wasSpoken: boolean;
    messages: readonly { messageId: string; content: object }[];
  },
  now: Date,
): Promise<boolean> {
  const free = await tx`
    select from threads where ${isThread(tx, key)} and conversation_id = ${key.conversationId} and turn_id is null for update`;
  if (free.count === 0) return false;
  // Row by row: one that is edited or deleted meanwhile no longer matches.
  const unchanged = await tx`
    select from incoming_messages
    join unnest(
      ${turn.messages.map(({ messageId }) => messageId)}::text[],
      ${turn.messages.map(({ content }) => JSON.stringify(content))}::text[]
    ) as given (message_id, content) using (message_id)
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId} and incoming_messages.content = given.content::jsonb
    for update of incoming_messages`;
  if (unchanged.count < turn.messages.length) return false;
  await tx`
    update incoming_messages set content = null
    where owner_id = ${key.ownerId} and carrier_id = ${key.carrierId}
      and message_id = any(${turn.messages.map(({ messageId }) => messageId)}::text[])`;
  await tx`
    update threads set turn_id = ${turn.turnId}, turn_text = ${turn.text}, turn_was_spoken = ${turn.wasSpoken},
      turn_began_at = ${now}, turn_attempts = 0, turn_due_at = ${now}, updated_at = ${now}
    where ${isThread(tx, key)}`;
  return true;
}

/** Postpones the turn, under another id if the conversation service has refused this one permanently. */
export async function postponeTurn(
  sql: Sql,
  turn: OpenTurn,
  { dueAt, turnId = turn.turnId, beganAt = turn.turnBeganAt }: { dueAt: Date; turnId?: string; beganAt?: Date },
): Promise<void> {
  await sql`
    update threads set turn_attempts = turn_attempts + 1, turn_due_at = ${dueAt}, turn_id = ${turnId},
      turn_began_at = ${beganAt}
    where ${isThread(sql, turn)} and turn_id = ${turn.turnId}`;
}

/** @returns whether the turn was still in progress */
export async function endTurn(tx: Sql, turn: OpenTurn, now: Date): Promise<boolean> {
  const { count } = await tx`
    update threads set turn_id = null, turn_text = null, turn_began_at = null, turn_due_at = null, updated_at = ${now}
    where ${isThread(tx, turn)} and turn_id = ${turn.turnId}`;
  return count > 0;
}

/** Threads that have been silent for as long as their messages are kept. */
export const SILENT_THREADS: OldRows = {
  table: "threads",
  by: "updated_at",
  keptMs: 31 * 24 * 60 * 60_000,
  where: (sql) => sql`turn_id is null`,
};
