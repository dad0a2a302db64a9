import { FIRST_ALERTS, newAlert } from "../alerts/rules.ts";
import { toAlert } from "../alerts/to-alert.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { insertAlert, isNewToAlerts, listAlertRows } from "../store/alerts.ts";

export function listAlerts({ db, clock }: ConversationContext): Handler<"listAlerts"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      if (!(await isNewToAlerts(tx, ownerId))) return;
      for (const rule of FIRST_ALERTS) await insertAlert(tx, newAlert(ownerId, rule, now));
    });
    return { alerts: (await listAlertRows(db, ownerId)).map(toAlert) };
  };
}
