import type { AgentContext, Handler } from "../context.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { toTool } from "../tools/tool-rows.ts";

export function getTool(ctx: AgentContext): Handler<"getTool"> {
  return async (key) => ({ tool: toTool(await getToolRow(ctx.db, key)) });
}
