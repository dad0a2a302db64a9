import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { type AgentRow, findAgentOwners, listAgentsThatHandOverTo } from "../store/agents.ts";
import { findToolOwners, listAgentsWithTool, type ToolKey } from "../store/tools.ts";
import { checkTransfer } from "./check-transfer.ts";
import { foreignTool } from "./read-tools.ts";

/** Agents that a refusal names. */
const NAMED_MAX = 10;

/**
 * Checks the tools and the handoffs that a change gives an agent, and that it can transfer calls as it would then. The owner's stored bytes must be locked, so that none of them is
 * deleted before the change is stored.
 * @throws ServiceError invalid for what does not exist or stands twice, forbidden for what is another owner's
 */
export async function checkReferences(
  sql: Sql,
  row: AgentRow,
  given: { customTools?: unknown; handoffs?: unknown },
): Promise<void> {
  checkTransfer(row);
  const { ownerId, agentId, customTools, handoffs } = row;
  if (given.customTools) await checkTools(sql, ownerId, customTools);
  if (given.handoffs) await checkHandoffs(sql, { ownerId, agentId, handoffs });
}

async function checkTools(sql: Sql, ownerId: string, customTools: AgentRow["customTools"]): Promise<void> {
  const ids = customTools.map(({ toolId }) => toolId);
  const owners = await findToolOwners(
    sql,
    ids.filter((id) => isId("tol", id)),
  );
  for (const [at, id] of ids.entries()) {
    const path = `custom_tools.${at}.tool_id`;
    if (ids.indexOf(id) !== at) throw invalid(path, `${path} must not be repeated: ${id}`);
    if (!owners.has(id)) throw invalid(path, `${path} must be one of your tools: there is no ${id}`);
    if (owners.get(id) !== ownerId) throw foreignTool();
  }
}

async function checkHandoffs(
  sql: Sql,
  { ownerId, agentId, handoffs }: Pick<AgentRow, "ownerId" | "agentId" | "handoffs">,
): Promise<void> {
  const ids = handoffs.map((handoff) => handoff.agentId);
  const owners = await findAgentOwners(
    sql,
    ids.filter((id) => isId("agt", id)),
  );
  for (const [at, id] of ids.entries()) {
    const path = `handoffs.${at}.agent_id`;
    if (ids.indexOf(id) !== at) throw invalid(path, `${path} must not be repeated: ${id}`);
    if (id === agentId) throw invalid(path, `${path} must be another agent`);
    if (!owners.has(id)) throw invalid(path, `${path} must be one of your agents: there is no ${id}`);
    if (owners.get(id) !== ownerId) throw new ServiceError("forbidden", "You do not have access to this agent");
  }
}

/** @throws ServiceError conflict while agents use the tool, naming them */
export async function requireUnusedTool(sql: Sql, key: ToolKey, name: string): Promise<void> {
  const agents = await listAgentsWithTool(sql, key, NAMED_MAX);
  if (agents.length === 0) return;
  throw new ServiceError(
    "conflict",
    `Tool ${name} is used by ${namesOf(agents)}: take it out of their custom_tools, in published versions too, before deleting it`,
  );
}

/** @throws ServiceError conflict while other agents hand conversations over to this one, naming them */
export async function requireNoHandoffs(sql: Sql, key: { ownerId: string; agentId: string }): Promise<void> {
  const agents = await listAgentsThatHandOverTo(sql, key, NAMED_MAX);
  if (agents.length === 0) return;
  throw new ServiceError(
    "conflict",
    `Agent ${key.agentId} takes over conversations from ${namesOf(agents)}: take it out of their handoffs, in published versions too, before deleting it`,
  );
}

function namesOf(agents: readonly string[]): string {
  return `the ${agents.length === 1 ? "agent" : "agents"} ${agents.join(", ")}`;
}
