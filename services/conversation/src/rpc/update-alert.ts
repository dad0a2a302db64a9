import { watchAlerts } from "../alerts/check-alerts.ts";
import { resolved } from "../alerts/judge.ts";
import { checkRule } from "../alerts/rules.ts";
import { tellAlert } from "../alerts/tell-alert.ts";
import { toAlert } from "../alerts/to-alert.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { lockAlert, updateAlertRow } from "../store/alerts.ts";

/** A changed alert is checked at once; what it measured before says nothing of it. */
export function updateAlert(ctx: ConversationContext): Handler<"updateAlert"> {
  return async ({ ownerId, alertId, ...given }) => {
    // Of the owner's own.
    if (given.agentId) await ctx.agents.check(ownerId, given.agentId);
    const now = ctx.clock.now();
    const row = await ctx.db.begin(async (tx) => {
      const before = await lockAlert(tx, { ownerId, alertId });
      const rule = checkRule({
        name: given.name ?? before.name,
        enabled: given.enabled ?? before.enabled,
        metric: given.metric ?? before.metric,
        agentId: given.agentId === undefined ? before.agentId : given.agentId || null,
        windowMinutes: given.windowMinutes ?? before.windowMinutes,
        threshold: given.threshold ?? before.threshold,
        minimumCount: given.minimumCount ?? before.minimumCount,
      });
      const isOther = rule.metric !== before.metric;
      const changed = { ...before, ...rule, ...(isOther && { value: null, count: null }), updatedAt: now };
      const next = before.isOpen && !rule.enabled ? resolved(changed, now) : changed;
      await updateAlertRow(tx, next);
      if (next.isOpen !== before.isOpen) await tellAlert(ctx, tx, next, now);
      if (next.enabled) await watchAlerts(tx, ownerId, now);
      return next;
    });
    return { alert: toAlert(row) };
  };
}
