import type { ByteShares } from "@parley/shared/byte-shares";
import type { Database, Sql } from "@parley/shared/db/database";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { HAND_OVER, Queue } from "@parley/shared/jobs/worker";
import { batched } from "@parley/shared/rpc/batched";
import type { Sealer } from "@parley/shared/sealing";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { changePending, listPending } from "../store/deliveries.ts";
import { type DestinationKey, findDestinations } from "../store/destinations.ts";
import type { Sender } from "./attempt.ts";
import { createLane, type Lane, type LaneAnswer, type LaneContext, type LaneQuestion } from "./lane.ts";
import { payloadLender } from "./payloads.ts";
import { settler } from "./settle.ts";
import { cancelled } from "./state.ts";

/** Of the jobs that deliver, one for each destination. */
export const QUEUE = "deliver";
/** Destinations that a process delivers to at once. */
const LANES_MAX = 256;
/** Of these to one owner's: with 32 attempts each they fill what a process has under way, and eight owners fit beside each other. */
const LANES_PER_OWNER = 32;
/**
 * Attempts under way at once to one destination, and to all: when there are many, owners get equal shares, and each lane its part of
 * its owner's, one at least.
 */
const UNDER_WAY_MAX = 32;
const UNDER_WAY_TOTAL = 512;
/** Lanes that share one read: bounds how many deliveries it brings. */
const LANES_A_READ = 32;
const RETRY_MS = 1_000;

export interface DeliverySettings {
  db: Database;
  sender: Sender;
  sealer: Sealer;
  /** The memory of the process that long payloads share. */
  shares: ByteShares;
  /** From the end of an attempt to the next one. */
  retryMs: number;
  leaseMs: number;
  /** As `LaneContext`'s. */
  turnMs: number;
}

/** Asks, in the transaction that made their deliveries pending, for destinations to be delivered to. */
export async function enqueueDestinations(sql: Sql, destinations: readonly DestinationKey[], now: Date): Promise<void> {
  const jobs = destinations.map(({ ownerId, destinationId }) => {
    return { ownerId, jobId: destinationId, queue: QUEUE, payload: {}, dueAt: now };
  });
  await enqueueJobs(sql, jobs);
}

/**
 * Delivers, a job for each destination that has something pending. Not a job for each delivery: those would be claimed, leased and
 * ended one by one, and a destination with many would stand before all others. This way the order among jobs is the fairness among
 * destinations, their leases keep two processes from one delivery, and the deliveries themselves are read and settled in batches.
 */
export function deliveryQueue({ db, sender, sealer, shares, retryMs, leaseMs, turnMs }: DeliverySettings): {
  queues: Record<string, Queue>;
  /** Begins nothing more; the runs end when what is under way is settled. */
  stop(): void;
} {
  const lanes = new Map<string, { lane: Lane; ended: Promise<void> }>();
  /** How many lanes each owner has. */
  const owned = new Map<string, number>();
  const stopping = new AbortController();
  const ctx: LaneContext = {
    read: batched((questions: readonly LaneQuestion[]) => readLanes(db, questions), LANES_A_READ),
    lend: payloadLender(db, shares),
    cancel: async (key) => void (await changePending(db, key, cancelled())),
    settle: settler(db, retryMs),
    sender,
    sealer,
    places: (ownerId) => {
      const parts = owned.size * (owned.get(ownerId) ?? 1);
      return Math.max(1, Math.min(UNDER_WAY_MAX, Math.floor(UNDER_WAY_TOTAL / parts)));
    },
    turnMs,
    stopping: stopping.signal,
  };

  async function run(key: DestinationKey, lease: AbortSignal): Promise<Date | typeof HAND_OVER | undefined> {
    const id = keyOf(key);
    // One that lost its lease to this run, and has attempts under way.
    for (let before = lanes.get(id); before; before = lanes.get(id)) await before.ended;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const lane = createLane(ctx, key, lease);
    lanes.set(id, { lane, ended });
    count(key.ownerId, 1);
    try {
      return await lane.work();
    } finally {
      lanes.delete(id);
      count(key.ownerId, -1);
      resolve();
    }
  }

  function count(ownerId: string, more: 1 | -1): void {
    const lanesOfOwner = (owned.get(ownerId) ?? 0) + more;
    if (lanesOfOwner > 0) owned.set(ownerId, lanesOfOwner);
    else owned.delete(ownerId);
  }

  const queue: Queue = {
    concurrency: LANES_MAX,
    perOwner: LANES_PER_OWNER,
    leaseMs,
    retryDelayMs: () => RETRY_MS,
    run: ({ ownerId, jobId: destinationId }, lease) => run({ ownerId, destinationId }, lease),
    onAsked: () => {
      for (const { lane } of lanes.values()) lane.wake();
    },
  };
  const heldBytes = () => lanes.values().reduce((sum, { lane }) => sum + lane.readAheadBytes(), shares.heldBytes());
  const unobserve = observeHeldBytes("deliveries", heldBytes);
  return {
    queues: { [QUEUE]: queue },
    stop: () => {
      stopping.abort();
      unobserve();
    },
  };
}

async function readLanes(db: Database, questions: readonly LaneQuestion[]): Promise<LaneAnswer[]> {
  const [destinations, pending] = await Promise.all([findDestinations(db, questions), listPending(db, questions)]);
  const found = new Map(destinations.map((destination) => [keyOf(destination), destination]));
  const lists = Map.groupBy(pending, keyOf);
  return questions.map((question) => ({
    destination: found.get(keyOf(question)) ?? null,
    pending: lists.get(keyOf(question)) ?? [],
  }));
}

/** An id is its owner's: nothing is kept by the id alone. */
function keyOf({ ownerId, destinationId }: DestinationKey): string {
  return `${ownerId} ${destinationId}`;
}
