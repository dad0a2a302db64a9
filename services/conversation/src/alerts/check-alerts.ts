import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../context.ts";
import { type AlertRow, findAlertForUpdate, listAlertRows, updateAlertRow } from "../store/alerts.ts";
import { judged } from "./judge.ts";
import { measure } from "./measure.ts";
import { tellAlert } from "./tell-alert.ts";

const QUEUE = "check-alerts";
const EVERY_MS = 60_000;

/** Has an owner's alerts checked from now on, as long as one is enabled. */
export async function watchAlerts(tx: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJob(tx, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
}

/** Checks the alerts of an owner each minute, in whichever replica has the owner's job. */
export function alertQueue(ctx: ConversationContext, log: Logger): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 4,
      run: async ({ ownerId }, lease) => {
        const now = ctx.clock.now();
        const alerts = (await listAlertRows(ctx.db, ownerId)).filter(({ enabled }) => enabled);
        for (const alert of alerts) {
          lease.throwIfAborted();
          await check(ctx, log, alert, now);
        }
        return alerts.length === 0 ? undefined : new Date(now.getTime() + EVERY_MS);
      },
    },
  };
}

/** One that cannot be measured now stays as it is. */
async function check(ctx: ConversationContext, log: Logger, alert: AlertRow, now: Date): Promise<void> {
  const measured = await measure(ctx, alert, now).catch((err) => {
    log.warn({ err, owner_id: alert.ownerId, alert_id: alert.alertId }, "an alert cannot be checked now");
    return null;
  });
  if (!measured) return;
  await ctx.db.begin(async (tx) => {
    const current = await findAlertForUpdate(tx, alert);
    // It was measured for what it was before, or another replica has checked it meanwhile.
    if (current?.updatedAt.getTime() !== alert.updatedAt.getTime()) return;
    if (current.checkedAt?.getTime() !== alert.checkedAt?.getTime()) return;
    const next = judged(current, measured, now);
    await updateAlertRow(tx, next);
    if (next.isOpen !== current.isOpen) await tellAlert(ctx, tx, next, now);
  });
}
