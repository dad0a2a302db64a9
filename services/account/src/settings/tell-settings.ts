import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { AccountContext } from "../context.ts";
import { findToldSettings } from "../store/settings.ts";

const QUEUE = "tell-settings";
/** The longest that a settings change waits for the conversation service. */
const NOW_WITHIN_MS = 1_000;

/** Enqueues, in the transaction of the change, a job that sends an owner's settings to the conversation service. */
export async function promiseSettings(tx: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJob(tx, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
}

/** Sends them at once, so that expired conversations are hidden when the change returns; if this fails, the job does it. */
export async function tellSettingsNow(ctx: AccountContext, ownerId: string, log: Logger): Promise<void> {
  try {
    await tellSettings(ctx, ownerId);
  } catch (err) {
    log.warn({ err, owner_id: ownerId }, "cannot send new settings to the conversation service now; a job will do it");
  }
}

export function settingsQueue(ctx: AccountContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      run: ({ ownerId }) => tellSettings(ctx, ownerId),
    },
  };
}

/** Sends what is stored: the revision orders concurrent calls. */
async function tellSettings({ db, conversations }: AccountContext, ownerId: string): Promise<void> {
  const settings = await findToldSettings(db, ownerId);
  if (settings) await conversations.setOwnerSettings({ ownerId, ...settings }, { timeoutMs: NOW_WITHIN_MS });
}
