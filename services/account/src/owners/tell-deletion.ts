import type { Database, Sql } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { deleteRowsOf, enqueueForgetting, forgetQueue } from "@parley/shared/jobs/forget-owner";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { IDEMPOTENCY_CLAIMS } from "../store/idempotency-claims.ts";
import { TELLING } from "../telling.ts";

/** The services that keep an owner's data outside of conversations, and delete it with the owner. */
const FORGETTING = ["voice", "messaging", "agent", "prompt", "webhook-dispatcher"] as const;
export type ForgettingService = (typeof FORGETTING)[number];

/** Tells a service to end and delete everything of a deleted owner. May be repeated. */
export type ForgetOwner = (service: ForgettingService, ownerId: string) => Promise<unknown>;

const QUEUE = "tell-deletion";
/** Gateways may take a deleted owner's key for a second more, and what they have let in must have arrived. */
const AGAIN_MS = 60_000;
/** What this service keeps for a minute more. */
const TABLES: readonly OwnedTable[] = [
  { name: "api_keys", key: ["key_id"] },
  { name: "mobile_numbers", key: ["mobile_number"] },
  { name: IDEMPOTENCY_CLAIMS.name, key: ["idempotency_key"] },
];

/**
 * Enqueues, in the transaction of the deletion, jobs that tell the services, at once and again for requests that were in progress, and
 * one that deletes what such requests have written here.
 */
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
  await enqueueForgetting(tx, ownerId, new Date(now.getTime() + AGAIN_MS));
}

export function deletionQueues(db: Database, forgetOwner: ForgetOwner): Record<string, Queue> {
  return {
    ...forgetQueue((ownerId, lease) => deleteRowsOf(db, ownerId, lease, TABLES)),
    [QUEUE]: {
      ...TELLING,
      run: async ({ ownerId, payload }) => {
        await forgetOwner((payload as { service: ForgettingService }).service, ownerId);
      },
    },
  };
}
