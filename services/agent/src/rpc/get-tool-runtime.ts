import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { getToolRow, toRuntimeTool } from "../tools/read-tools.ts";

export function getToolRuntime(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getToolRuntime"]> {
  return async (key) => ({ tool: toRuntimeTool(ctx, await getToolRow(ctx.db, key)) });
}
