import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import type { TrafficShare } from "./agents.ts";

/** An entry of an agent's publish log. */
export interface NewPublish extends AgentKey {
  kind: "publish" | "rollback" | "traffic" | "automatic" | "test_changed" | "test_cleared" | "test_deleted";
  agentVersion?: number | null;
  split?: TrafficShare[] | null;
  note?: string | null;
  overrideReason?: string | null;
  /** As `actorText` writes it. */
  createdBy: string;
  createdAt: Date;
}

export interface PublishRow extends Required<NewPublish> {
  /** 1, 2, 3 … of the agent. */
  number: number;
}

/** Adds an entry to the log of each of these agents, which are locked. Of one owner. */
export async function insertPublishes(tx: Sql, entries: readonly NewPublish[]): Promise<PublishRow[]> {
  const [first] = entries;
  if (!first) return [];
  return tx<PublishRow[]>`
    insert into agent_publishes
      (owner_id, agent_id, number, kind, agent_version, split, note, override_reason, created_by, created_at)
    select ${first.ownerId}, agent_id, coalesce((
        select max(number) from agent_publishes as logged
        where logged.owner_id = ${first.ownerId} and logged.agent_id = made.agent_id
      ), 0) + 1, kind, agent_version, split::jsonb, note, override_reason, created_by, created_at::timestamptz
    from unnest(
      ${entries.map(({ agentId }) => agentId)}::text[],
      ${entries.map(({ kind }) => kind)}::text[],
      ${entries.map(({ agentVersion = null }) => agentVersion)}::integer[],
      ${entries.map(({ split }) => (split ? JSON.stringify(split) : null))}::text[],
      ${entries.map(({ note = null }) => note)}::text[],
      ${entries.map(({ overrideReason = null }) => overrideReason)}::text[],
      ${entries.map(({ createdBy }) => createdBy)}::text[],
      ${entries.map(({ createdAt }) => createdAt.toISOString())}::text[]
    ) as made (agent_id, kind, agent_version, split, note, override_reason, created_by, created_at)
    returning owner_id, agent_id, number, kind, agent_version, split, note, override_reason, created_by, created_at`;
}

/** Which of these versions of an agent have been published, at any time. */
export async function listPublished(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  versions: readonly number[],
): Promise<Set<number>> {
  const rows = await sql<{ agentVersion: number }[]>`
    select distinct agent_version from agent_publishes
    where owner_id = ${ownerId} and agent_id = ${agentId} and agent_version = any(${versions as number[]})`;
  return new Set(rows.map(({ agentVersion }) => agentVersion));
}

export async function deletePublishes(tx: Sql, { ownerId, agentId }: AgentKey): Promise<void> {
  await tx`delete from agent_publishes where owner_id = ${ownerId} and agent_id = ${agentId}`;
}
