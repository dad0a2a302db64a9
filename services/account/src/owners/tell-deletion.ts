import type { Sql } from "@parley/shared/db/database";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { TELLING } from "../telling.ts";

/** The services that keep an owner's data outside of conversations, and delete it with the owner. */
const FORGETTING = ["voice", "messaging"] as const;
export type ForgettingService = (typeof FORGETTING)[number];

/** Tells a service to end and delete everything of a deleted owner. May be repeated. */
export type ForgetOwner = (service: ForgettingService, ownerId: string) => Promise<unknown>;

const QUEUE = "tell-deletion";
/** Gateways may take a deleted owner's key for a second more, and what they have let in must have arrived. */
const AGAIN_MS = 60_000;

/** Enqueues, in the transaction of the deletion, jobs that tell the services: at once, and again for requests that were in progress. */
export async function promiseDeletion(tx: Sql, ownerId: string, now: Date): Promise<void> {
  const jobs = FORGETTING.flatMap((service) =>
    [0, AGAIN_MS].map((afterMs) => ({
      ownerId,
      jobId: `${QUEUE}:${service}:${afterMs}`,
      queue: QUEUE,
      payload: { service },
      dueAt: new Date(now.getTime() + afterMs),
    })),
  );
  await enqueueJobs(tx, jobs);
}

export function deletionQueue(forgetOwner: ForgetOwner): Record<string, Queue> {
  return {
    [QUEUE]: {
      ...TELLING,
      run: async ({ ownerId, payload }) => {
        await forgetOwner((payload as { service: ForgettingService }).service, ownerId);
      },
    },
  };
}
