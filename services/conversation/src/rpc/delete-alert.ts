import { resolved } from "../alerts/judge.ts";
import { tellAlert } from "../alerts/tell-alert.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { deleteAlertRow, lockAlert } from "../store/alerts.ts";

export function deleteAlert(ctx: ConversationContext): Handler<"deleteAlert"> {
  return async ({ ownerId, alertId }) => {
    const now = ctx.clock.now();
    await ctx.db.begin(async (tx) => {
      const alert = await lockAlert(tx, { ownerId, alertId });
      await deleteAlertRow(tx, alert);
      if (alert.isOpen) await tellAlert(ctx, tx, resolved(alert, now), now);
    });
    return {};
  };
}
