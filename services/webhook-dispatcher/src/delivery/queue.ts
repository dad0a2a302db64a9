import type { Database, Sql } from "@parley/shared/db/database";
import { nullIfNotFound } from "@parley/shared/errors";
import { enqueueJobs } from "@parley/shared/jobs/store";
import type { HAND_OVER, Queue } from "@parley/shared/jobs/worker";
import { batched } from "@parley/shared/rpc/batched";
import type { Sealer } from "@parley/shared/sealing";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import { createPace, type Pace, type PaceSettings } from "@parley/shared/shares/pace";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { DESTINATIONS_MAX } from "../rules.ts";
import { changePending, listPending } from "../store/deliveries.ts";
import { type DestinationKey, findDestinations, lockDestination } from "../store/destinations.ts";
import type { Sender } from "./attempt.ts";
import { createLane, type Lane, type LaneAnswer, type LaneContext, type LaneQuestion } from "./lane.ts";
import { payloadLender } from "./payloads.ts";
import { settler } from "./settle.ts";
import { cancelled } from "./state.ts";

/** Queue of the delivery jobs, one per destination. */
export const QUEUE = "deliver";
/**
 * Destinations of one owner that a process delivers to concurrently: all of them, because a lane with a steady flow of events
 * keeps its place for its whole turn.
 */
const LANES_PER_OWNER = DESTINATIONS_MAX;
/** The same for all owners: room for eight side by side. */
const LANES_MAX = 8 * LANES_PER_OWNER;
/** A lane's turn while every place is taken, so that the other destinations need not wait for a busy one's whole turn. */
const CROWDED_TURN_MS = 2_000;
/**
 * Concurrent attempts to one destination, of one owner, and in total: under load, owners get equal shares and each lane an
 * equal part of its owner's share, at least one.
 */
const UNDER_WAY_MAX = 32;
const UNDER_WAY_PER_OWNER = 64;
const UNDER_WAY_TOTAL = 512;
/**
 * An owner's attempts to destinations whose last attempt failed or got a long response. An attempt that is refused at once would be
 * followed by the next at once, and thousands of them a second deliver nothing.
 */
const COSTLY: PaceSettings = { perSecond: 50, atOnce: 50 };
/** Lanes per read, which bounds how many deliveries one read returns. */
const LANES_A_READ = 32;

interface DeliverySettings {
  db: Database;
  sender: Sender;
  sealer: Sealer;
  /** The memory that long payloads share. */
  shares: ByteShares;
  /** Paces an owner's attempts to destinations whose last one failed or got a long response. */
  costly?: Pace;
  /** Wait between attempts. */
  retryMs: number;
  leaseMs: number;
  /** How long a lane that always has due deliveries keeps its destination, in milliseconds; then another process may take it. */
  turnMs: number;
}

/** Enqueues delivery to destinations, in the transaction that made their deliveries pending. */
export async function enqueueDestinations(sql: Sql, destinations: readonly DestinationKey[], now: Date): Promise<void> {
  const jobs = destinations.map(({ ownerId, destinationId }) => {
    return { ownerId, jobId: destinationId, queue: QUEUE, payload: {}, dueAt: now };
  });
  await enqueueJobs(sql, jobs);
}

/**
 * Runs one job for each destination with pending deliveries. One job per delivery would claim, lease and end each of
 * them, and a destination with many would block the others. With one job per destination, the job order makes
 * destinations take turns, the leases keep two processes off one delivery, and deliveries are read and settled in
 * batches.
 */
export function deliveryQueue({
  db,
  sender,
  sealer,
  shares,
  costly = createPace(COSTLY),
  retryMs,
  leaseMs,
  turnMs,
}: DeliverySettings): {
  queues: Record<string, Queue>;
  /** Starts nothing more; the runs end once running attempts are settled. */
  stop(): void;
} {
  const lanes = new Map<string, { lane: Lane; ended: Promise<void> }>();
  /** Number of lanes of each owner. */
  const owned = new Map<string, number>();
  const stopping = new AbortController();
  const ctx: LaneContext = {
    read: batched((questions: readonly LaneQuestion[]) => readLanes(db, questions), LANES_A_READ),
    lend: payloadLender(db, shares),
    cancel: (key) => cancelPart(db, key),
    settle: settler(db, retryMs),
    sender,
    sealer,
    costly,
    places: (ownerId) => {
      const ofOwner = Math.min(UNDER_WAY_PER_OWNER, UNDER_WAY_TOTAL / owned.size);
      return Math.max(1, Math.min(UNDER_WAY_MAX, Math.floor(ofOwner / (owned.get(ownerId) ?? 1))));
    },
    turnMs: () => (lanes.size < LANES_MAX ? turnMs : Math.min(turnMs, CROWDED_TURN_MS)),
    stopping: stopping.signal,
  };

  async function run(key: DestinationKey, lease: AbortSignal): Promise<Date | typeof HAND_OVER | undefined> {
    const id = keyOf(key);
    // A lane that lost its lease to this run may still have attempts running.
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

/** Does nothing for a destination that was enabled again. */
function cancelPart(db: Database, key: DestinationKey): Promise<void> {
  return db.begin(async (tx) => {
    const destination = await lockDestination(tx, key).catch(nullIfNotFound);
    if (!destination?.enabled) await changePending(tx, key, cancelled());
  });
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

/** Includes the owner because ids are unique only per owner. */
function keyOf({ ownerId, destinationId }: DestinationKey): string {
  return `${ownerId} ${destinationId}`;
}
