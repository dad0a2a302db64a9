import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { findWidget } from "../store/called-agents.ts";

/** @throws ServiceError not_found */
export function getWidget(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["getWidget"]> {
  return async ({ agentId }) => {
    const widget = isId("agt", agentId) ? await findWidget(ctx.db, agentId) : null;
    if (!widget) throw notFound("Agent");
    return { ...widget, widgetConfig: widget.widgetConfig ?? undefined };
  };
}
