import type { Database } from "@parley/shared/db/database";
import { batched } from "@parley/shared/rpc/batched";
import { QUEUE } from "./delivery/queue.ts";
import { newDelivery } from "./delivery/state.ts";
import { listEnabled } from "./store/destinations.ts";
import { type EventRow, insertEvents, newDeliveryOf } from "./store/events.ts";

const EVENTS_AT_ONCE = 200;
/** A second batch for the same destination would wait for the first one's commit and hold a connection meanwhile. */
const WAITING = { waitMaxMs: 1_000 };

/** Stores an event with one delivery for each enabled destination, batched with concurrent events in one statement. */
export type Accept = (event: EventRow) => Promise<unknown>;

interface WantedEvent {
  event: EventRow;
  destinationIds: readonly string[];
}

export function acceptor(db: Database, now: () => Date): Accept {
  // Two steps, so that the next batch's destinations are looked up while this batch is stored.
  const find = batched((ownerIds: readonly string[]) => findEnabled(db, ownerIds), EVENTS_AT_ONCE);
  const store = batched((wanted: readonly WantedEvent[]) => storeAll(db, wanted, now()), EVENTS_AT_ONCE, WAITING);
  return async (event) => {
    const destinationIds = await find(event.ownerId);
    // An event without a destination is not stored.
    if (destinationIds.length > 0) await store({ event, destinationIds });
  };
}

async function findEnabled(db: Database, ownerIds: readonly string[]): Promise<string[][]> {
  const enabled = Map.groupBy(await listEnabled(db, [...new Set(ownerIds)]), ({ ownerId }) => ownerId);
  return ownerIds.map((ownerId) => (enabled.get(ownerId) ?? []).map(({ destinationId }) => destinationId));
}

async function storeAll(db: Database, given: readonly WantedEvent[], now: Date): Promise<undefined[]> {
  // Deduplicates, because a repeated event in one batch would be delivered twice.
  const wanted = [...new Map(given.map((each) => [`${each.event.ownerId} ${each.event.eventId}`, each])).values()];
  const deliveries = wanted.flatMap(({ event, destinationIds }) =>
    destinationIds.map((destinationId) => newDeliveryOf(event, destinationId)),
  );
  const events = wanted.map(({ event }) => event);
  await insertEvents(db, events, deliveries, newDelivery(now), QUEUE, now);
  return given.map(() => undefined);
}
