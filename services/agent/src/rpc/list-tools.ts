import { nameOf } from "@parley/shared/domain/api-names";
import { TOOL_TYPES } from "@parley/shared/domain/tools";
import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../context.ts";
import { listToolRows } from "../store/tools.ts";
import { toTool } from "../tools/tool-rows.ts";

export function listTools(ctx: AgentContext): Handler<"listTools"> {
  return async ({ ownerId, page, search, type }) => {
    const wanted = pageOf(page);
    if (search.includes("\0")) return { tools: [], total: 0 };
    const { rows, total } = await listToolRows(
      ctx.db,
      { ownerId, search, type: nameOf(TOOL_TYPES, type) ?? null },
      wanted,
    );
    return { tools: rows.map(toTool), total };
  };
}
