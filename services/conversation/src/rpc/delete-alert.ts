import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { resolved } from "../alerts/judge.ts";
import { tellAlert } from "../alerts/tell-alert.ts";
import type { ConversationContext } from "../context.ts";
import { deleteAlertRow, lockAlert } from "../store/alerts.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["deleteAlert"]>;

export function deleteAlert(ctx: ConversationContext): Handler {
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
