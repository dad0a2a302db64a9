import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Fragment, Sql } from "@parley/shared/db/database";
import type { SessionKey } from "./session-key.ts";

/** One of the agents that have held a conversation, in order. */
export interface AgentOnPath {
  agentId: string;
  /** Null: the conversation tries a draft of it. */
  agentVersion: number | null;
  /** Sequence of the first message with words of it. */
  fromSeq: number;
  /** Sequence of the first message that it learns of. */
  contextFrom: number;
  /** The agent with whose voice it speaks in a call. */
  voiceAgentId: string;
}

/** The agents of a conversation. Its row has the path only once an agent has handed over. */
export function agentPathOf({
  agentId,
  agentVersion,
  agentPath,
}: {
  agentId: string;
  agentVersion: number | null;
  agentPath: readonly AgentOnPath[] | null;
}): readonly AgentOnPath[] {
  return agentPath ?? [{ agentId, agentVersion, fromSeq: 1, contextFrom: 1, voiceAgentId: agentId }];
}

/** What a conversation has begun with, or been handed over to. Both null: its agent was gone. */
export interface Kept {
  agentVersion: number | null;
  draftId: string | null;
}

/** The version that a conversation keeps of an agent; null for a draft. */
export function versionOf({ agentVersion }: Pick<AgentRuntime, "agentVersion">): number | null {
  return agentVersion || null;
}

/** What one of its agents is read as: the version with which it has held the conversation, or the draft that the first one tries. */
export function keptOf(
  row: Parameters<typeof agentPathOf>[0] & { draftId: string | null },
  agentId = row.agentId,
): Kept {
  const agentVersion = heldVersion(agentPathOf(row), agentId);
  return { agentVersion, draftId: agentVersion === null && agentId === row.agentId ? row.draftId : null };
}

/** The version with which an agent has held a conversation last; null for a draft, or if it has not. */
export function heldVersion(path: readonly AgentOnPath[], agentId: string): number | null {
  return path.findLast((held) => held.agentId === agentId)?.agentVersion ?? null;
}

/** For the `set` of a conversation: the agent takes over. */
export function takingOver(sql: Sql, agent: Fragment): Fragment {
  return sql`agent_path = coalesce(agent_path, jsonb_build_array(jsonb_build_object(
    'agentId', agent_id, 'agentVersion', agent_version, 'fromSeq', 1, 'contextFrom', 1, 'voiceAgentId', agent_id))) || ${agent}`;
}

/** Stores that an agent takes over a conversation whose turn it is. */
export async function storeTakeOver(
  sql: Sql,
  { ownerId, conversationId, turnId }: SessionKey & { turnId: string },
  agent: AgentOnPath,
  now: Date,
): Promise<void> {
  await sql`
    update conversations set ${takingOver(sql, sql`${sql.json(agent as never)}::jsonb`)}, updated_at = ${now}
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and turn_id = ${turnId}`;
}
