import type { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import type { AgentContext } from "../context.ts";
import type { AgentRow } from "../store/agents.ts";
import { findTool, findToolOwners, findTools, type ToolKey, type ToolRow } from "../store/tools.ts";
import type { AgentVersion, VersionTool } from "../store/versions.ts";
import { signingSecretsOf } from "./signing.ts";
import { toTool } from "./tool-rows.ts";

/** @throws ServiceError forbidden for another owner's tool, not_found for none */
export async function getToolRow(sql: Sql, { ownerId, toolId }: ToolKey): Promise<ToolRow> {
  const row = isId("tol", toolId) ? await findTool(sql, { ownerId, toolId }) : null;
  if (row) return row;
  throw (await findToolOwners(sql, isId("tol", toolId) ? [toolId] : [])).size > 0 ? foreignTool() : notFound("Tool");
}

export function foreignTool(): ServiceError {
  return new ServiceError("forbidden", "You do not have access to this tool");
}

/** The tool as conversations call it, with its signing secrets. @throws when one cannot be opened */
export function toRuntimeTool({ sealer, clock }: Pick<AgentContext, "sealer" | "clock">, row: ToolRow): Tool {
  return { ...toTool(row), signingSecrets: signingSecretsOf(sealer, row, clock.now()) };
}

/**
 * Reads what the library has of the tools of all these versions at once.
 * @returns those of one version, in its order and as it has them, with their current signing secrets; without tools that are gone or whose
 * signing secret cannot be opened
 */
export async function readToolsOf(
  ctx: Pick<AgentContext, "db" | "sealer" | "clock">,
  versions: readonly AgentVersion[],
  log: Logger,
): Promise<(version: AgentVersion) => Tool[]> {
  const keys = versions.flatMap(({ row: { ownerId }, tools }) => tools.map(({ toolId }) => ({ ownerId, toolId })));
  const found = keys.length === 0 ? [] : await findTools(ctx.db, keys);
  const byId = new Map(found.map((row) => [`${row.ownerId} ${row.toolId}`, row]));
  return ({ row: { ownerId }, tools }) =>
    tools.flatMap((tool) => {
      const row = byId.get(`${ownerId} ${tool.toolId}`);
      return (row && openedTool(ctx, { ...row, ...tool }, log)) ?? [];
    });
}

/**
 * The tools of a draft, without those that `readToolsOf` leaves out.
 * @param kept tools as a version has them; the others are as the library has them now
 */
export async function readLibraryTools(
  ctx: Pick<AgentContext, "db" | "sealer" | "clock">,
  { ownerId, customTools }: AgentRow,
  kept: readonly VersionTool[] | undefined,
  log: Logger,
): Promise<Tool[]> {
  const found = await findTools(
    ctx.db,
    customTools.map(({ toolId }) => ({ ownerId, toolId })),
  );
  const byId = new Map(found.map((row) => [row.toolId, row]));
  const keptById = new Map(kept?.map((tool) => [tool.toolId, tool]));
  return customTools.flatMap(({ toolId }) => {
    const row = byId.get(toolId);
    return (row && openedTool(ctx, { ...row, ...keptById.get(toolId) }, log)) ?? [];
  });
}

/** Null for a tool that cannot sign: it must not keep others' agents from being read. */
function openedTool(ctx: Pick<AgentContext, "sealer" | "clock">, row: ToolRow, log: Logger): Tool | null {
  try {
    return toRuntimeTool(ctx, row);
  } catch (err) {
    log.error({ err, owner_id: row.ownerId, tool_id: row.toolId }, "a tool's signing secret cannot be read");
    return null;
  }
}
