import { AcceptToolChangesResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { later } from "../changed-agent.ts";
import type { AgentContext, Handler } from "../context.ts";
import { withinAgentRoom } from "../room.ts";
import { type ToolRow, updateToolRow } from "../store/tools.ts";
import { withContents } from "../tools/mcp-contents.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { toTool } from "../tools/tool-rows.ts";
import { followTool } from "../versions/follow.ts";

/** Pins what the tool's MCP server offers now, all of it on. */
export function acceptToolChanges(ctx: AgentContext): Handler<"acceptToolChanges"> {
  return async ({ ownerId, toolId, idempotency }, call) => {
    const key = { ownerId, toolId };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: AcceptToolChangesResponse, call },
      {
        prepare: async () => {
          const { name, definition } = await getToolRow(ctx.db, key);
          if (definition.kind.$case !== "mcp")
            throw new ServiceError(
              "condition",
              "Only tools of MCP servers change by themselves: this one has nothing to accept",
            );
          return withContents(ctx, ownerId, { name, kind: definition.kind }, call);
        },
        write: (tx, kind) =>
          withinAgentRoom(tx, ctx, ownerId, async () => {
            const before = await getToolRow(tx, key);
            const updatedAt = later(ctx.clock.now(), before.updatedAt);
            const row: ToolRow = { ...before, definition: { ...before.definition, kind }, updatedAt };
            await updateToolRow(tx, row);
            await followTool(tx, ctx, key, { note: `Tool ${row.name} changed`, actor: call.actor });
            return { tool: toTool(row) };
          }),
      },
    );
  };
}
