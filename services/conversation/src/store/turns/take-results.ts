import type { Sql } from "@parley/shared/db/database";
import { isKept } from "../retention.ts";
import { isMetadataBounded, type NewTurn, type TakenTurn } from "./take-turns.ts";

interface WaitingSession {
  messageCount: number;
  /** Whether a turn of it is in progress. */
  isHeld: boolean;
}

/**
 * Locks a session whose client gives results. Returns null when it is missing, of another type, another agent's, ended or past
 * retention, or when its metadata would grow too large.
 */
export async function lockWaitingSession(tx: Sql, turn: NewTurn): Promise<WaitingSession | null> {
  const [session] = await tx<WaitingSession[]>`
    select message_count, coalesce(turn_until >= ${turn.now}, false) as is_held from conversations
    where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId} and type = 'CHAT' and status = 'IN_PROGRESS'
      and ${turn.agentId} in (agent_id, asked_agent_id) and (draft_id is null) = ${turn.draftId === null} and ${isKept(tx, turn.ownerId, turn.now)}
      and ${isMetadataBounded(tx, tx`${tx.json(turn.metadata as never)}::jsonb`, tx`${tx.json(turn.variables as never)}::jsonb`)}
    for update`;
  return session ?? null;
}

/**
 * Begins the turn that goes on with the results of the calls of reply `seq`. If that reply was never stored, because its process died,
 * an empty one takes its place.
 */
export async function takeResults(tx: Sql, turn: NewTurn, seq: number): Promise<Omit<TakenTurn, "earlier">> {
  const [taken] = await tx<[Omit<TakenTurn, "earlier">]>`
    with before as (
      select message_count from conversations
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId}
    ), taken as (
      update conversations set turn_id = ${turn.turnId}, turn_until = ${turn.until}, draft_id = ${turn.draftId},
        message_count = greatest(message_count, ${seq}), metadata = metadata || ${tx.json(turn.metadata as never)}::jsonb,
        variables = variables || ${tx.json(turn.variables as never)}::jsonb, last_activity_at = ${turn.now}, updated_at = ${turn.now}
      where owner_id = ${turn.ownerId} and conversation_id = ${turn.conversationId}
      returning message_count as seq, message_count + 1 as reply_seq, agent_id, agent_version, variables, language, has_tool_calls, agent_path, injected, test is not null as is_test
    ), missing as (
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, partial)
      select ${turn.ownerId}, ${turn.conversationId}, ${seq}, 'assistant', '', ${turn.now}, true
      from before where message_count < ${seq}
    )
    select * from taken`;
  return taken;
}
