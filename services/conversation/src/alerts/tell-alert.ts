import type { Sql } from "@parley/shared/db/database";
import { presentAlert } from "@parley/shared/domain/present/alert";
import { newUuid } from "@parley/shared/ids";
import { counter } from "@parley/shared/telemetry/instruments";
import type { ConversationContext } from "../context.ts";
import { payloadOfNews } from "../events/news.ts";
import type { AlertRow } from "../store/alerts.ts";
import { insertEvent } from "../store/events/owner-events.ts";
import { promiseMail } from "./mail.ts";
import { toAlert } from "./to-alert.ts";

const changed = counter("parley.alerts.changed", "Alerts of owners that were opened or resolved, by which", "{alert}");

/** Tells an owner, in the transaction that opens or resolves an alert, by an event, and by email if there is a mail server. */
export async function tellAlert(ctx: ConversationContext, tx: Sql, alert: AlertRow, now: Date): Promise<void> {
  const event = alert.isOpen ? "alert.opened" : "alert.resolved";
  const row = { ownerId: alert.ownerId, event, conversationId: null, eventUuid: newUuid(), happenedAt: now } as const;
  const object = presentAlert(toAlert(alert));
  await insertEvent(tx, { ...row, payload: payloadOfNews(row, object) });
  if (ctx.sendMail) await promiseMail(tx, alert, now);
  changed().add(1, { event });
}
