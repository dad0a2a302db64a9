import type { Clock } from "../clock.ts";
import type { Sql } from "../db/database.ts";
import { deleteOwnedRows, type OwnedTable } from "../db/owned-rows.ts";
import type { Queue } from "./queue.ts";
import { enqueueJob } from "./store.ts";

const QUEUE = "forget-owner";

/** Enqueues the deletion of a deleted owner's data. Repeated, it also deletes what has come in since. */
export async function enqueueForgetting(sql: Sql, ownerId: string, now: Date): Promise<void> {
  await enqueueJob(sql, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
}

/** The handler of a service whose jobs delete all that the owner has there. */
export function forgetOwner({ db, clock }: { db: Sql; clock: Clock }) {
  return async ({ ownerId }: { ownerId: string }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}

/**
 * The queue that deletes the data of deleted owners.
 * @param forget deletes part by part, because a statement has 15 s; called again, with what is left, until it succeeds, and at the time
 * that it returns
 */
export function forgetQueue(
  // biome-ignore lint/suspicious/noConfusingVoidType: most simply end
  forget: (ownerId: string, lease: AbortSignal) => Promise<Date | void>,
): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      run: ({ ownerId }, lease) => forget(ownerId, lease),
    },
  };
}

/**
 * Deletes part by part until nothing is left.
 * @param deletePart returns 0 when nothing was left to delete
 * @throws the lease's reason when another run may have claimed the job
 */
export async function deleteParts(lease: AbortSignal, deletePart: () => Promise<number>): Promise<void> {
  while ((await deletePart()) > 0) lease.throwIfAborted();
}

/** Deletes all of an owner's rows, one table after the other. */
export async function deleteRowsOf(
  sql: Sql,
  ownerId: string,
  lease: AbortSignal,
  tables: readonly OwnedTable[],
): Promise<void> {
  for (const table of tables) await deleteParts(lease, () => deleteOwnedRows(sql, table, ownerId));
}
