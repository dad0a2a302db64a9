import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { AccountContext } from "../context.ts";
import { findRetention } from "../store/settings.ts";

const QUEUE = "tell-retention";
const RETRY_MS = [1_000, 2_000, 5_000, 15_000] as const;
/** Whoever changes a setting waits no longer than this for the conversation service. */
const NOW_WITHIN_MS = 1_000;

/** Promises, in the transaction of the change, that the conversation service will know of an owner's retention. */
export async function promiseRetention(tx: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJob(tx, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
}

/** The same at once, so that what is no longer kept is gone when the change is answered; should it fail, the job does it. */
export async function tellRetentionNow(ctx: AccountContext, ownerId: string, log: Logger): Promise<void> {
  try {
    await tellRetention(ctx, ownerId);
  } catch (err) {
    log.warn({ err, owner_id: ownerId }, "the conversation service will be told of a new retention by a job");
  }
}

export function retentionQueue(ctx: AccountContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      leaseMs: 30_000,
      retryDelayMs: (attempts) => RETRY_MS[attempts - 1] ?? 30_000,
      run: ({ ownerId }) => tellRetention(ctx, ownerId),
    },
  };
}

/** What is stored now: of two that are told at once the revision tells which is newer. */
async function tellRetention({ db, conversations }: AccountContext, ownerId: string): Promise<void> {
  const retention = await findRetention(db, ownerId);
  if (retention) await conversations.setRetention({ ownerId, ...retention }, { timeoutMs: NOW_WITHIN_MS });
}
