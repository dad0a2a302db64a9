import type { AgentContext, Handler } from "../context.ts";
import { getToolRow, toRuntimeTool } from "../tools/read-tools.ts";

export function getToolRuntime(ctx: AgentContext): Handler<"getToolRuntime"> {
  return async (key) => ({ tool: toRuntimeTool(ctx, await getToolRow(ctx.db, key)) });
}
