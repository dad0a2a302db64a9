import type { Database } from "@parley/shared/db/database";
import { batched } from "@parley/shared/rpc/batched";
import { QUEUE } from "./delivery/queue.ts";
import { newDelivery } from "./delivery/state.ts";
import { listEnabled } from "./store/destinations.ts";
import { type EventRow, insertEvents, newDeliveryOf } from "./store/events.ts";

const EVENTS_AT_ONCE = 200;
/** Two for one destination would have the second wait for the first's commit, with a connection that others want. */
const WAIT_MAX_MS = 1_000;

/** Stores an event with one delivery for each enabled destination, in one statement with the others that come at the time. */
export type Accept = (event: EventRow) => Promise<unknown>;

export function acceptor(db: Database, now: () => Date): Accept {
  return batched((events: readonly EventRow[]) => acceptAll(db, events, now()), EVENTS_AT_ONCE, WAIT_MAX_MS);
}

async function acceptAll(db: Database, given: readonly EventRow[], now: Date): Promise<undefined[]> {
  // Twice in one batch would be two deliveries.
  const events = [...new Map(given.map((event) => [`${event.ownerId} ${event.eventId}`, event])).values()];
  const ownerIds = [...new Set(events.map(({ ownerId }) => ownerId))];
  const destinations = Map.groupBy(await listEnabled(db, ownerIds), ({ ownerId }) => ownerId);
  const deliveries = events.flatMap((event) =>
    (destinations.get(event.ownerId) ?? []).map(({ destinationId }) => newDeliveryOf(event, destinationId)),
  );
  // An event that goes nowhere is not kept: its payload is nobody's.
  const wanted = events.filter(({ ownerId }) => destinations.has(ownerId));
  if (wanted.length > 0) await insertEvents(db, wanted, deliveries, newDelivery(now), QUEUE, now);
  return given.map(() => undefined);
}
