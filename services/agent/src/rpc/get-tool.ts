import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { toTool } from "../tools/tool-rows.ts";

export function getTool(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getTool"]> {
  return async (key) => ({ tool: toTool(await getToolRow(ctx.db, key)) });
}
