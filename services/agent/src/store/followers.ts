import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import type { AgentState } from "./agents.ts";
import type { VersionContent } from "./versions.ts";

/** An agent whose newest version may have to follow a change, and that version's content. */
export interface Follower extends AgentKey {
  publishing: AgentState["publishing"];
  latestVersion: number;
  content: VersionContent;
  hash: string;
}

/** What agents follow: a prompt, in the latest version or by a label, or a tool of the library. */
export type Followed = { ownerId: string; promptName: string } | { ownerId: string; toolId: string };

export interface PromptFollowed {
  promptName: string;
  /** Null: the latest version. */
  promptLabel: string | null;
}

/** The ids of the agents that follow it, in order, from the one after `after` on; at most `limit`. */
export async function listFollowers(sql: Sql, followed: Followed, after: string, limit: number): Promise<string[]> {
  const { ownerId } = followed;
  const follows =
    "toolId" in followed
      ? sql`custom_tools @> ${sql.json([{ toolId: followed.toolId }])}`
      : sql`(prompt_name = ${followed.promptName} or analysis ->> 'promptName' = ${followed.promptName})`;
  const rows = await sql<AgentKey[]>`
    select agent_id from agents where owner_id = ${ownerId} and agent_id > ${after} and ${follows}
    order by agent_id limit ${limit}`;
  return rows.map(({ agentId }) => agentId);
}

/** The numbers of the agents' newest versions, by agent. */
export async function findLatestVersions(
  sql: Sql,
  ownerId: string,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<Pick<Follower, "agentId" | "latestVersion">[]>`
    select agent_id, latest_version from agents where owner_id = ${ownerId} and agent_id = any(${agentIds as string[]})`;
  return new Map(rows.map(({ agentId, latestVersion }) => [agentId, latestVersion]));
}

/** The agents with their newest versions, locked until the transaction ends, in order. */
export async function lockFollowers(tx: Sql, ownerId: string, agentIds: readonly string[]): Promise<Follower[]> {
  return tx<Follower[]>`
    select owner_id, agent_id, publishing, latest_version, version.content, version.hash
    from agents join agent_versions as version using (owner_id, agent_id)
    where owner_id = ${ownerId} and agent_id = any(${agentIds as string[]}) and version.agent_version = latest_version
    order by agent_id for update of agents`;
}

/** Points agents to the versions that were stored: to be published by those whose changes take effect at once. */
export async function advanceAgents(tx: Sql, ownerId: string, agentIds: readonly string[]): Promise<void> {
  await tx`
    update agents set latest_version = latest_version + 1,
      published_version = case publishing when 'auto' then latest_version + 1 else published_version end,
      traffic = case publishing when 'manual' then traffic end
    where owner_id = ${ownerId} and agent_id = any(${agentIds as string[]})`;
}

/** The references without a version that these agents have in their newest state, each once. */
export async function listFollowedReferences(
  sql: Sql,
  ownerId: string,
  agentIds: readonly string[],
): Promise<PromptFollowed[]> {
  return sql<PromptFollowed[]>`
    select distinct prompt_name, prompt_label from (
      select prompt_name, prompt_label, prompt_version from agents
      where owner_id = ${ownerId} and agent_id = any(${agentIds as string[]})
      union all
      select analysis ->> 'promptName', analysis ->> 'promptLabel', (analysis ->> 'promptVersion')::integer from agents
      where owner_id = ${ownerId} and agent_id = any(${agentIds as string[]})
    ) as refers where prompt_name is not null and prompt_version is null`;
}
