import type { Database } from "@parley/shared/db/database";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { QUEUE } from "./delivery/queue.ts";
import { newDelivery } from "./delivery/state.ts";
import { listEnabled } from "./store/destinations.ts";
import { type EventRow, insertEvents, newDeliveryOf } from "./store/events.ts";

/** Deliveries in one statement, unless a single event has more. */
const DELIVERIES_AT_ONCE = 128;
/**
 * Statements in progress. An owner has one at a time: a second one for the same destination would wait for the first
 * one's commit and hold a connection in the meantime.
 */
const STATEMENTS = { what: "webhook events", totalBytes: 6, ownerBytes: 1, waitingMax: 1_000 };

/** Stores events, with one delivery for each enabled destination of their owner. No owner waits for another's. */
export type Accept = (events: readonly EventRow[]) => Promise<unknown>;

interface WantedEvent {
  event: EventRow;
  destinationIds: readonly string[];
}

export function acceptor(db: Database, now: () => Date): Accept {
  const shares = byteShares(STATEMENTS);
  const storeSlice = async (ownerId: string, slice: readonly WantedEvent[]) => {
    const share = await shares.hold(ownerId, 1);
    try {
      await store(db, slice, now());
    } finally {
      share.release();
    }
  };
  return async (events) => {
    if (events.length === 0) return;
    const byOwner = Map.groupBy(await withDestinations(db, events), ({ event }) => event.ownerId);
    const stored = [...byOwner].map(async ([ownerId, wanted]) => {
      for (const slice of slicesOf(wanted)) await storeSlice(ownerId, slice);
    });
    // Waits for all, so that what a call stores is counted (accept-bounds.ts) until it is stored.
    for (const outcome of await Promise.allSettled(stored)) if (outcome.status === "rejected") throw outcome.reason;
  };
}

/** An event without a destination is not stored. */
async function withDestinations(db: Database, events: readonly EventRow[]): Promise<WantedEvent[]> {
  const enabled = Map.groupBy(
    await listEnabled(db, [...new Set(events.map(({ ownerId }) => ownerId))]),
    ({ ownerId }) => ownerId,
  );
  // Deduplicates, because a repeated event in one statement would be delivered twice.
  const distinct = new Map(events.map((event) => [`${event.ownerId} ${event.eventId}`, event]));
  return [...distinct.values()].flatMap((event) => {
    const destinationIds = (enabled.get(event.ownerId) ?? []).map(({ destinationId }) => destinationId);
    return destinationIds.length === 0 ? [] : { event, destinationIds };
  });
}

/** An event and its deliveries are stored together: a slice without the event would find it stored already. */
function slicesOf(wanted: readonly WantedEvent[]): WantedEvent[][] {
  const slices: WantedEvent[][] = [];
  let deliveries = 0;
  for (const each of wanted) {
    const last = slices.at(-1);
    deliveries += each.destinationIds.length;
    if (last && deliveries <= DELIVERIES_AT_ONCE) {
      last.push(each);
    } else {
      slices.push([each]);
      deliveries = each.destinationIds.length;
    }
  }
  return slices;
}

async function store(db: Database, wanted: readonly WantedEvent[], now: Date): Promise<void> {
  const deliveries = wanted.flatMap(({ event, destinationIds }) =>
    destinationIds.map((destinationId) => newDeliveryOf(event, destinationId)),
  );
  const events = wanted.map(({ event }) => event);
  await insertEvents(db, events, deliveries, newDelivery(now), QUEUE, now);
}
