import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import { QUEUES } from "./context.ts";

/** Has the calls of a carrier account placed. */
export function wakeLane(
  tx: Sql,
  { ownerId, carrierId }: { ownerId: string; carrierId: string },
  now: Date,
): Promise<void> {
  const job = { ownerId, jobId: `place:${carrierId}`, queue: QUEUES.place, payload: { carrierId } };
  return enqueueJob(tx, { ...job, dueAt: now });
}
