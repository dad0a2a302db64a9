import type { Sql } from "@parley/shared/db/database";
import { nullIfNotFound } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { type AlertMetric, isShare } from "@parley/shared/portable/alerts";
import { backOff } from "@parley/shared/retry/back-off";
import type { ConversationContext } from "../context.ts";
import type { AlertRow } from "../store/alerts.ts";
import { isRefusal } from "./mailer.ts";

interface PromisedMail {
  id: string;
  date: string;
  subject: string;
  text: string;
}

const QUEUE = "mail-alerts";
/** A server that takes nothing for a day does not want it. */
const ATTEMPTS_MAX = 200;

/** Enqueues, in the transaction that opens or resolves an alert, the mail that tells its owner. */
export async function promiseMail(tx: Sql, alert: AlertRow, now: Date): Promise<void> {
  const id = newUuid();
  const payload: PromisedMail = { id, date: now.toISOString(), ...wordsOf(alert, now) };
  await enqueueJob(tx, { ownerId: alert.ownerId, jobId: `${QUEUE}-${id}`, queue: QUEUE, payload, dueAt: now });
}

export function mailQueue({ sendMail, findOwner }: ConversationContext, log: Logger): Record<string, Queue> {
  if (!sendMail) return {};
  return {
    [QUEUE]: {
      concurrency: 2,
      attemptsMax: ATTEMPTS_MAX,
      retryDelayMs: backOff(1_000, 10 * 60_000),
      run: async ({ ownerId, payload }) => {
        const to = await emailOf(ownerId);
        if (to === null) return;
        const { date, ...mail } = payload as PromisedMail;
        try {
          await sendMail({ to, date: new Date(date), ...mail });
        } catch (err) {
          if (!isRefusal(err)) throw err;
          log.warn({ err, owner_id: ownerId }, "the mail server refuses a mail about an alert for good");
        }
      },
    },
  };

  /** Null: the owner is gone, or has none. */
  async function emailOf(ownerId: string): Promise<string | null> {
    return (await findOwner({ ownerId }).catch(nullIfNotFound))?.owner?.email || null;
  }
}

const METRICS: Readonly<Record<AlertMetric, string>> = {
  failed_share: "conversations that failed",
  volume_drop: "fewer conversations than a week earlier",
  p95_latency_ms: "time to the first word or sound of 95 % of the replies",
  cost: "cost of the replies",
  tool_failed_share: "calls of tools that failed",
  delivery_failed_share: "webhook deliveries that failed",
};

function wordsOf(alert: AlertRow, now: Date) {
  const { name, metric, isOpen, value, threshold, count, windowMinutes, agentId } = alert;
  const shown = (figure: number) => {
    if (isShare(metric)) return `${(figure * 100).toFixed(1)} %`;
    return metric === "cost" ? `US$ ${figure.toFixed(2)}` : `${Math.round(figure)} ms`;
  };
  const lines = [
    isOpen ? `The alert “${name}” is open.` : `The alert “${name}” is resolved.`,
    "",
    `Metric: ${METRICS[metric]} (${metric})`,
    `Value: ${value === null ? "none" : shown(value)}, from ${count ?? 0}`,
    `Threshold: ${shown(threshold)}`,
    `Window: ${windowMinutes} minutes`,
    `Time: ${now.toISOString()}`,
    ...(agentId === null ? [] : [`Agent: ${agentId}`]),
  ];
  // A name has no line ends, which would begin another header.
  return { subject: isOpen ? `Alert: ${name}` : `Resolved: ${name}`, text: `${lines.join("\n")}\n` };
}
