import { ServiceError } from "@parley/shared/errors";
import { watchAlerts } from "../alerts/check-alerts.ts";
import { ALERTS_MAX, checkRule, newAlert } from "../alerts/rules.ts";
import { toAlert } from "../alerts/to-alert.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { insertAlert, lockAlerts } from "../store/alerts.ts";

export function createAlert(ctx: ConversationContext): Handler<"createAlert"> {
  return async ({ ownerId, agentId, ...given }) => {
    const rule = checkRule({ ...given, agentId: agentId || null });
    // Of the owner's own.
    if (rule.agentId !== null) await ctx.agents.check(ownerId, rule.agentId);
    const now = ctx.clock.now();
    const row = newAlert(ownerId, rule, now);
    await ctx.db.begin(async (tx) => {
      if ((await lockAlerts(tx, ownerId)) >= ALERTS_MAX)
        throw new ServiceError("conflict", `There are ${ALERTS_MAX} alerts already: delete one first`);
      await insertAlert(tx, row);
      if (row.enabled) await watchAlerts(tx, ownerId, now);
    });
    return { alert: toAlert(row) };
  };
}
