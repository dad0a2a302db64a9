import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import { QUEUES } from "./context.ts";

/** Wakes a carrier account's lane: the job that places the account's calls in order (place-calls.ts). */
export function wakeLane(
  tx: Sql,
  { ownerId, carrierId }: { ownerId: string; carrierId: string },
  now: Date,
): Promise<void> {
  const job = { ownerId, jobId: `place:${carrierId}`, queue: QUEUES.place, payload: { carrierId } };
  return enqueueJob(tx, { ...job, dueAt: now });
}
