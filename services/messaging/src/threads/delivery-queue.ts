import type { Sql } from "@parley/shared/db/database";
import { MESSAGE_DELIVERIES } from "@parley/shared/domain/api-names";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { ThreadContext } from "../context.ts";
import { findItemDelivery, type Item } from "../store/outgoing.ts";

const QUEUE = "deliveries";
const CONCURRENCY = 64;
/** After this many attempts a status is dropped: it is of no use after a day. */
const ATTEMPTS_MAX = 3_000;

/** Enqueues reports of the items' statuses to the conversation service, in the transaction that changes them. */
export async function enqueueDelivery(tx: Sql, ownerId: string, items: readonly Item[], now: Date): Promise<void> {
  const jobs = items.map((item) => {
    const jobId = `delivery ${item.conversationId} ${item.sequence}`;
    return [jobId, { ownerId, jobId, queue: QUEUE, payload: item, dueAt: now }] as const;
  });
  // One for each item: a statement cannot write a row twice.
  await enqueueJobs(tx, [...new Map(jobs).values()]);
}

export function deliveryQueue({ db, conversations }: ThreadContext): Record<string, Queue> {
  const queue: Queue = {
    concurrency: CONCURRENCY,
    attemptsMax: ATTEMPTS_MAX,
    run: async ({ ownerId, payload }) => {
      const item = payload as Item;
      const found = await findItemDelivery(db, ownerId, item);
      if (!found) return;
      const status = MESSAGE_DELIVERIES[found.delivery];
      await conversations.setDelivery({
        ownerId,
        ...item,
        delivery: { status, errorCode: found.errorCode ?? undefined },
      });
    },
  };
  return { [QUEUE]: queue };
}
