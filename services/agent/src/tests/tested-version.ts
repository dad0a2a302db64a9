import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { getAgentRow } from "../read-agents.ts";
import { type AgentVersion, findVersions, LATEST } from "../store/versions.ts";

/**
 * The version of an agent that is tested; the newest by default.
 * @throws ServiceError forbidden for another owner's agent, not_found for none or no such version
 */
export async function getTestedVersion(sql: Sql, key: AgentKey, agentVersion: number = LATEST): Promise<AgentVersion> {
  const [version] = await findVersions(sql, [{ ownerId: key.ownerId, agentId: key.agentId, agentVersion }]);
  if (version && agentVersion !== 0) return version;
  await getAgentRow(sql, key);
  throw notFound(`Version ${agentVersion}`, "version");
}
