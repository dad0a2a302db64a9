import type { Sql } from "@parley/shared/db/database";
import type { CallKey } from "./calls.ts";

export interface CommandAnswer {
  /** Why it cannot be carried out; null if it is. */
  refusal: string | null;
  /** SDP for a listener. */
  answer?: string | null;
}

/** Stores a command for whichever process holds the call. Whoever asks deletes it; one that its process left goes with a later one. */
export async function insertCommand(
  sql: Sql,
  { ownerId, conversationId, commandId, command, now }: CallKey & { commandId: string; command: Uint8Array; now: Date },
): Promise<void> {
  await sql`
    with left_over as (
      delete from call_commands where owner_id = ${ownerId} and created_at < ${now}::timestamptz - interval '1 minute'
    )
    insert into call_commands (owner_id, command_id, conversation_id, command, created_at)
    values (${ownerId}, ${commandId}, ${conversationId}, ${Buffer.from(command)}, ${now})`;
}

export async function findCommand(
  sql: Sql,
  ownerId: string,
  commandId: string,
): Promise<{ conversationId: string; command: Uint8Array } | null> {
  const [row] = await sql<{ conversationId: string; command: Buffer }[]>`
    select conversation_id, command from call_commands
    where owner_id = ${ownerId} and command_id = ${commandId} and not is_answered`;
  return row ?? null;
}

/** @returns false when nobody waits for the answer anymore */
export async function answerCommand(
  sql: Sql,
  ownerId: string,
  commandId: string,
  { refusal, answer = null }: CommandAnswer,
): Promise<boolean> {
  const { count } = await sql`
    update call_commands set is_answered = true, refusal = ${refusal}, answer = ${answer}
    where owner_id = ${ownerId} and command_id = ${commandId}`;
  return count > 0;
}

/** Deletes a command. @returns its answer; null if there is none */
export async function takeAnswer(sql: Sql, ownerId: string, commandId: string): Promise<CommandAnswer | null> {
  const [row] = await sql<(CommandAnswer & { isAnswered: boolean })[]>`
    delete from call_commands where owner_id = ${ownerId} and command_id = ${commandId}
    returning is_answered, refusal, answer`;
  return row?.isAnswered ? row : null;
}
