import { notFound } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { AgentContext, Handler } from "../context.ts";
import { getVersion } from "../read-agents.ts";
import { findOwnerOf } from "../store/called-agents.ts";

/** Of the published version. @throws ServiceError not_found, conflict if none is published */
export function getWidget(ctx: AgentContext): Handler<"getWidget"> {
  return async ({ agentId }) => {
    const ownerId = isId("agt", agentId) ? await findOwnerOf(ctx.db, agentId) : null;
    if (ownerId === null) throw notFound("Agent");
    const { row } = await getVersion(ctx.db, { ownerId, agentId });
    return { ownerId, agentName: row.agentName, widgetConfig: row.widgetConfig ?? undefined };
  };
}
