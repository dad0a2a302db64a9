import { notFound, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { Handler } from "../../../context.ts";
import { isOwnerDeleted } from "../../../store/deleted-owners.ts";
import type { WidgetContext } from "../context.ts";
import { checkOrigin } from "../origin.ts";

export function createToken(ctx: WidgetContext): Handler<"createWidgetToken"> {
  return async ({ agentId, origin, renews }, call) => {
    const { ownerId, agentName, widgetConfig } = await ctx.agents.getWidget({ agentId }, { origin: call });
    if (await isOwnerDeleted(ctx.db, ownerId)) throw notFound("Agent");
    // Read each time, so that a page which the owner removes gets no further tokens.
    const { allowed_origins: allowed, ...look } = widgetConfig ?? {};
    checkOrigin(origin, allowed);
    const now = ctx.clock.now();
    const earlier = renews === undefined ? undefined : ctx.tokens.renew(renews, origin, now);
    if (earlier && (earlier.grant.ownerId !== ownerId || earlier.grant.agentId !== agentId))
      throw new ServiceError("unauthenticated", "The widget token belongs to another agent");
    const grant = earlier?.grant ?? { ownerId, agentId, origin, sessionId: newUuid() };
    const issued = ctx.tokens.issue(grant, now, earlier?.renewableUntil);
    return { ...issued, ownerId, sessionId: grant.sessionId, agentName, widgetConfig: look };
  };
}
