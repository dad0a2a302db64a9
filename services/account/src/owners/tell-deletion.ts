import type { Sql } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { deleteRowsOf, enqueueForgetting, forgetQueue } from "@parley/shared/jobs/forget-owner";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { AccountContext } from "../context.ts";
import { areKeptForCalls, deleteUnneededCarriers, TELL_DELETION } from "../store/carriers.ts";
import { IDEMPOTENCY_CLAIMS } from "../store/idempotency-claims.ts";

/** The services that keep an owner's data beside conversations, and delete it with the owner. */
const FORGETTING = [
  "voice",
  "messaging",
  "agent",
  "prompt",
  "webhook-dispatcher",
  "knowledge",
  "conversation",
] as const;
type ForgettingService = (typeof FORGETTING)[number];

/** Tells a service to end and delete everything of a deleted owner. May be repeated. */
type ForgetOwner = (service: ForgettingService, ownerId: string) => Promise<{ needsCarriers?: boolean }>;

/** Gateways may take a deleted owner's key for a second more, and what they have let in must have arrived. */
const AGAIN_MS = 60_000;
/** How long a service may take to hang up calls before it is asked again whether it has. */
const HANGS_UP_MS = 5_000;
/** What this service keeps for a minute more. */
const TABLES: readonly OwnedTable[] = [
  { name: "api_keys", key: ["key_id"] },
  { name: "mobile_numbers", key: ["mobile_number"] },
  { name: "removed_numbers", key: ["mobile_number"] },
  { name: "number_codes", key: ["mobile_number"] },
  { name: "call_policies", key: ["owner_id"] },
  { name: "secrets", key: ["name"] },
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
      jobId: `${TELL_DELETION}:${service}:${afterMs}`,
      queue: TELL_DELETION,
      payload: { service },
      dueAt: new Date(now.getTime() + afterMs),
    })),
  );
  await enqueueJobs(tx, jobs);
  await enqueueForgetting(tx, ownerId, new Date(now.getTime() + AGAIN_MS));
}

export function deletionQueues(
  { db, clock }: Pick<AccountContext, "db" | "clock">,
  forgetOwner: ForgetOwner,
): Record<string, Queue> {
  const soon = () => new Date(clock.now().getTime() + HANGS_UP_MS);
  return {
    ...forgetQueue(async (ownerId, lease) => {
      await deleteRowsOf(db, ownerId, lease, TABLES);
      const areKept = await areKeptForCalls(db, ownerId);
      await deleteUnneededCarriers(db, ownerId);
      if (areKept) return soon();
    }),
    [TELL_DELETION]: {
      concurrency: 2,
      run: async ({ ownerId, payload }) => {
        const { needsCarriers } = await forgetOwner((payload as { service: ForgettingService }).service, ownerId);
        if (needsCarriers) return soon();
      },
    },
  };
}
