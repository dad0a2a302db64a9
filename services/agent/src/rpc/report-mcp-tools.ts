import type { Sql } from "@parley/shared/db/database";
import { isSame, relisted } from "@parley/shared/domain/mcp-definitions";
import { presentTool } from "@parley/shared/domain/present/tool";
import { keepEvent } from "@parley/shared/owner-events/hand-over";
import type { AgentContext, Handler } from "../context.ts";
import { withinAgentRoom } from "../room.ts";
import { updateToolRow } from "../store/tools.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { toTool } from "../tools/tool-rows.ts";
import { followTool } from "../versions/follow.ts";

/** Keeps what a conversation found that the tool's MCP server offers now. A change by the server is not one by the owner. */
export function reportMcpTools(ctx: AgentContext): Handler<"reportMcpTools"> {
  return async ({ ownerId, toolId, tools }, call) => {
    const key = { ownerId, toolId };
    // Within the owner's room, which the versions of a server that changes its tools with every call would exceed.
    const store = async (tx: Sql) => {
      const before = await getToolRow(tx, key);
      const { kind } = before.definition;
      if (kind.$case !== "mcp") return;
      const contents = relisted(before.name, kind.value, tools);
      if (isSame(contents, kind.value)) return;
      const definition = { ...before.definition, kind: { ...kind, value: { ...kind.value, ...contents } } };
      const row = { ...before, definition };
      await updateToolRow(tx, row);
      const happenedAt = ctx.clock.now();
      const object = presentTool(toTool(row));
      await keepEvent(tx, { ownerId, event: "tool.changed", conversationId: null, object, happenedAt });
      await followTool(tx, ctx, key, { note: `Tool ${row.name} changed`, actor: call.actor });
    };
    await ctx.db.begin((tx) => withinAgentRoom(tx, ctx, ownerId, () => store(tx)));
    return {};
  };
}
