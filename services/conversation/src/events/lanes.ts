import type { ConversationContext } from "../context.ts";
import { type DueEvent, findDueEvents, findDueOwners } from "../store/conversation-events.ts";

/** Due events of an owner up to which it shares a batch. */
const FEW_MAX = 4;
/**
 * The batches that a process has in progress at a time. An owner with many due events has a lane to itself, because its
 * batches may be slow: each event becomes a delivery for each of its destinations. So does one with a large event, which
 * is read, built, stored and sent as a megabyte. Owners with few small ones share a batch.
 */
const LANES: readonly LaneKind[] = [
  { backlog: "few", lanes: 2, owners: 50, ofOwner: FEW_MAX },
  { backlog: "many", lanes: 2, owners: 1, ofOwner: 50 },
];

/** Bounds on the events, and on the bytes of their payloads, of a lane. */
const BATCH_MAX = 50;
const BATCH_BYTES_MAX = 2 * 1024 * 1024;
/** A payload of more than this many bytes gets its owner a lane of its own, so that other owners' events do not wait for it. */
const LARGE_BYTES = 256 * 1024;
/** The most owners remembered for a large event; a forgotten owner is noticed again at its next one. */
const LARGE_OWNERS_MAX = 1_000;
/** Nothing wakes a run that is busy, so it looks for other owners' events while its lanes are. */
const LOOK_BESIDE_MS = 25;

export interface LaneState {
  /** The owner served last by each kind of lane; the next one in order follows. */
  lastOwnerId: Record<LaneKind["backlog"], string>;
  /** Owners of large events, who get a lane to themselves. */
  largeOwnerIds: Set<string>;
  /** Bytes of the payloads in progress. */
  heldBytes: number;
}

export function noLanes(): LaneState {
  return { lastOwnerId: { few: "", many: "" }, largeOwnerIds: new Set(), heldBytes: 0 };
}

interface LaneKind {
  backlog: "few" | "many";
  /** The number of these lanes. */
  lanes: number;
  /** The most owners in a batch. */
  owners: number;
  /** Events in a batch. */
  ofOwner: number;
}

/** A batch in progress. */
interface Lane {
  kind: LaneKind;
  ownerIds: readonly string[];
  /** Settles when the batch has ended, and never rejects. */
  ended: Promise<unknown>;
}

/**
 * Relays due events in several batches at a time until none is in progress, so that no owner's backlog or slow batch delays
 * another owner's event. An owner is in one batch at a time.
 * @param isOver is asked before each look for due events
 * @returns whether there were due events; then there may be more
 * @throws the first error of `relay`, when all batches have ended
 */
export async function relayInLanes(
  ctx: ConversationContext,
  state: LaneState,
  relay: (events: readonly DueEvent[]) => Promise<void>,
  isOver: () => boolean,
): Promise<boolean> {
  const lanes = new Set<Lane>();
  let wereDue = false;
  const errors: unknown[] = [];
  try {
    while (!isOver() && errors.length === 0) {
      for (const { kind, ownerIds } of await findWork(ctx, state, lanes)) {
        const ended = relayBatch(ctx, state, kind, ownerIds, relay).catch((error) => errors.push(error));
        const lane: Lane = { kind, ownerIds, ended };
        lanes.add(lane);
        wereDue = true;
        ended.then(() => lanes.delete(lane));
      }
      if (lanes.size === 0) break;
      await oneEnds(lanes, LOOK_BESIDE_MS);
      if (lanes.size === 0) break;
    }
  } finally {
    await Promise.all([...lanes].map(({ ended }) => ended));
  }
  if (errors.length > 0) throw errors[0];
  return wereDue;
}

/** Finds owners for the lanes that are free, other than those being served. */
async function findWork(
  { db, clock }: ConversationContext,
  { lastOwnerId, largeOwnerIds }: LaneState,
  lanes: ReadonlySet<Lane>,
): Promise<Omit<Lane, "ended">[]> {
  const work: Omit<Lane, "ended">[] = [];
  for (const kind of LANES) {
    const { backlog, owners } = kind;
    const free = kind.lanes - [...lanes].filter((lane) => lane.kind === kind).length;
    if (free === 0) continue;
    const ownerIds = await findDueOwners(db, clock.now(), {
      backlog,
      fewMax: FEW_MAX,
      limit: free * owners,
      afterOwnerId: lastOwnerId[backlog],
      many: [...largeOwnerIds],
      except: [...lanes, ...work].flatMap((lane) => lane.ownerIds),
    });
    for (let from = 0; from < ownerIds.length; from += owners) {
      work.push({ kind, ownerIds: ownerIds.slice(from, from + owners) });
    }
  }
  return work;
}

async function relayBatch(
  { db, clock }: ConversationContext,
  state: LaneState,
  { backlog, owners, ofOwner }: LaneKind,
  ownerIds: readonly string[],
  relay: (events: readonly DueEvent[]) => Promise<void>,
): Promise<void> {
  const due = await findDueEvents(db, clock.now(), ownerIds, { limit: BATCH_MAX, ofOwner });
  rememberLarge(state, ownerIds, due);
  const batch = beginningWithin(owners === 1 ? due : due.filter((event) => !isLarge(event)), BATCH_BYTES_MAX);
  const last = batch.at(-1);
  if (!last) return;
  state.lastOwnerId[backlog] = last.ownerId;
  const bytes = batch.reduce((sum, { bytesMax }) => sum + bytesMax, 0);
  state.heldBytes += bytes;
  try {
    await relay(batch);
  } finally {
    state.heldBytes -= bytes;
  }
}

/** An owner whose first events are small again shares batches again. */
function rememberLarge({ largeOwnerIds }: LaneState, ownerIds: readonly string[], due: readonly DueEvent[]): void {
  for (const ownerId of ownerIds) largeOwnerIds.delete(ownerId);
  for (const event of due) if (isLarge(event)) largeOwnerIds.add(event.ownerId);
  for (const ownerId of largeOwnerIds) {
    if (largeOwnerIds.size <= LARGE_OWNERS_MAX) break;
    largeOwnerIds.delete(ownerId);
  }
}

function isLarge({ bytesMax }: DueEvent): boolean {
  return bytesMax > LARGE_BYTES;
}

/** Returns at least one event if there are any, however large. Another batch has the others. */
function beginningWithin(events: readonly DueEvent[], bytesMax: number): DueEvent[] {
  let bytes = 0;
  return events.filter(({ bytesMax: more }, at) => {
    bytes += more;
    return at === 0 || bytes <= bytesMax;
  });
}

/** Resolves when a lane ends, at the latest after `ms` milliseconds. */
async function oneEnds(lanes: ReadonlySet<Lane>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  for (const { ended } of lanes) ended.then(() => resolve());
  await promise;
  clearTimeout(timer);
}
