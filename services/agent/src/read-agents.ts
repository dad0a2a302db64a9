import { Access, type AgentKey, type AgentVersionKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { type AgentRow, findAgent, findAgentOwners, findExistingIds, lockAgent } from "./store/agents.ts";
import { type AgentVersion, findVersions, LATEST } from "./store/versions.ts";

/** Reads one version of each of many agents in one query. In the order of the keys. @param keys as `findVersions` takes them */
export async function readVersions(
  sql: Sql,
  keys: readonly AgentVersionKey[],
  find = findVersions,
): Promise<(AgentVersion | Access)[]> {
  // No other text is an agent's id, and one that Postgres refuses to read would fail the whole batch.
  const possible = keys.filter((key) => isId("agt", key.agentId));
  const found = await find(sql, possible);
  const byId = new Map(found.flatMap((version) => namesOf(version).map((name) => [name, version] as const)));
  const missing = possible.filter((key) => !byId.has(nameOf(key)));
  const accessOf = await readAccess(sql, missing);
  return keys.map((key) => byId.get(nameOf(key)) ?? accessOf(key));
}

/** The keys under which a version may have been asked for. */
function namesOf({ row, agentVersion }: AgentVersion): string[] {
  const names = [nameOf({ ...row, agentVersion })];
  if (agentVersion === row.publishedVersion) names.push(nameOf({ ...row, agentVersion: 0 }));
  if (agentVersion === row.latestVersion) names.push(nameOf({ ...row, agentVersion: LATEST }));
  return names;
}

function nameOf({ ownerId, agentId, agentVersion }: AgentVersionKey): string {
  return `${ownerId} ${agentId} ${agentVersion}`;
}

/** Tells of the agents that were not found whether they are another owner's or nobody's. */
export async function readAccess(sql: Sql, keys: readonly AgentKey[]): Promise<(key: AgentKey) => Access> {
  const owners =
    keys.length > 0
      ? await findAgentOwners(
          sql,
          keys.map(({ agentId }) => agentId),
        )
      : new Map<string, string>();
  return ({ ownerId, agentId }) => {
    const owner = owners.get(agentId);
    return owner === undefined || owner === ownerId ? Access.ACCESS_NOT_FOUND : Access.ACCESS_DENIED;
  };
}

/** An agent's newest version. @throws ServiceError forbidden for another owner's agent, not_found for none. */
export async function readNewest(sql: Sql, key: AgentKey, find = findVersions): Promise<AgentVersion> {
  const [read] = await readVersions(sql, [{ ...key, agentVersion: LATEST }], find);
  if (read === undefined || typeof read === "number") throw refusal(read === Access.ACCESS_DENIED);
  return read;
}

/**
 * The version that new conversations get, or the given one.
 * @throws ServiceError forbidden for another owner's agent, not_found for none or no such version, conflict if none is published
 */
export async function getVersion(sql: Sql, key: AgentKey, agentVersion = 0): Promise<AgentVersion> {
  const [read] = await readVersions(sql, [{ ...key, agentVersion }]);
  if (read !== undefined && typeof read !== "number") return read;
  const row = await getAgentRow(sql, key);
  if (agentVersion === 0 && row.publishedVersion === null)
    throw new ServiceError("conflict", "Agent has no published version");
  throw notFound("Agent version");
}

/** The agent as stored. @throws ServiceError forbidden for another owner's agent, not_found for none */
export async function getAgentRow(sql: Sql, key: AgentKey): Promise<AgentRow> {
  return (await findAgent(sql, key)) ?? refuse(sql, key);
}

/** The same, locked until the transaction ends. @throws ServiceError forbidden for another owner's agent, not_found for none */
export async function getLockedAgentRow(tx: Sql, key: AgentKey): Promise<AgentRow> {
  return (await lockAgent(tx, key)) ?? refuse(tx, key);
}

async function refuse(sql: Sql, { agentId }: AgentKey): Promise<never> {
  throw refusal((await findExistingIds(sql, [agentId])).size > 0);
}

function refusal(isForeign: boolean): ServiceError {
  return isForeign ? new ServiceError("forbidden", "You do not have access to this agent") : notFound("Agent");
}

/**
 * Checks an id before anything is stored about the agent. @throws ServiceError not_found for a text that cannot be an
 * agent's id
 */
export function checkAgentId(agentId: string): void {
  if (!isId("agt", agentId)) throw refusal(false);
}
