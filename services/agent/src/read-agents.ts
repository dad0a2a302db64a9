import { Access, type AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "./context.ts";
import { idOf, readExpectedPrompts, readPrompts, rememberUses } from "./prompts/agent-prompts.ts";
import { type AgentRow, findAgent, findAgents, findExistingIds, lockAgent } from "./store/agents.ts";

export interface ReadAgent {
  row: AgentRow;
  prompt: Prompt | undefined;
}

/** Returns agents with their current prompts: one query and one call for any number. In the order of the keys. */
export async function readAgents(
  ctx: AgentContext,
  keys: readonly AgentKey[],
  origin?: CallOrigin,
): Promise<(ReadAgent | Access)[]> {
  // No other text is an agent's id, and one that Postgres refuses to read would fail the whole batch.
  const possible = keys.filter((key) => isId("agt", key.agentId));
  const [rows, expected] = await Promise.all([
    findAgents(ctx.db, possible),
    readExpectedPrompts(ctx, possible, origin),
  ]);
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  const missing = possible.filter((key) => !byId.has(idOf(key))).map((key) => key.agentId);
  rememberUses(ctx, rows);
  const [prompts, foreign] = await Promise.all([
    readPrompts(ctx, rows, origin, expected),
    missing.length > 0 ? findExistingIds(ctx.db, missing) : new Set<string>(),
  ]);
  return keys.map((key) => {
    const row = byId.get(idOf(key));
    if (row) return { row, prompt: prompts.get(row) };
    return foreign.has(key.agentId) ? Access.ACCESS_DENIED : Access.ACCESS_NOT_FOUND;
  });
}

/** @throws ServiceError forbidden for another owner's agent, not_found for none. */
export async function readAgent(ctx: AgentContext, key: AgentKey, origin?: CallOrigin): Promise<ReadAgent> {
  const [read] = await readAgents(ctx, [key], origin);
  if (read === undefined || typeof read === "number") throw refusal(read === Access.ACCESS_DENIED);
  return read;
}

/** The agent as stored. @throws as `readAgent` does */
export async function getAgentRow(sql: Sql, key: AgentKey): Promise<AgentRow> {
  return (await findAgent(sql, key)) ?? refuse(sql, key);
}

/** The same, locked until the transaction ends. @throws as `readAgent` does */
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
