import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { AccountContext } from "../context.ts";
import { findRetention } from "../store/settings.ts";
import { TELLING } from "../telling.ts";

const QUEUE = "tell-retention";
/** The longest that a settings change waits for the conversation service. */
const NOW_WITHIN_MS = 1_000;

/** Enqueues, in the transaction of the change, a job that sends an owner's retention to the conversation service. */
export async function promiseRetention(tx: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJob(tx, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
}

/** Sends it at once, so that expired conversations are hidden when the change returns; if this fails, the job does it. */
export async function tellRetentionNow(ctx: AccountContext, ownerId: string, log: Logger): Promise<void> {
  try {
    await tellRetention(ctx, ownerId);
  } catch (err) {
    log.warn(
      { err, owner_id: ownerId },
      "cannot send a new retention to the conversation service now; a job will do it",
    );
  }
}

export function retentionQueue(ctx: AccountContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      ...TELLING,
      run: ({ ownerId }) => tellRetention(ctx, ownerId),
    },
  };
}

/** Sends the stored value: the revision orders concurrent calls. */
async function tellRetention({ db, conversations }: AccountContext, ownerId: string): Promise<void> {
  const retention = await findRetention(db, ownerId);
  if (retention) await conversations.setRetention({ ownerId, ...retention }, { timeoutMs: NOW_WITHIN_MS });
}
