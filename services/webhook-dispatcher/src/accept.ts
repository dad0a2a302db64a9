import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { batched } from "@parley/shared/rpc/batched";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { QUEUE } from "./delivery/queue.ts";
import { newDelivery } from "./delivery/state.ts";
import { listEnabled, type ScheduledDestination } from "./store/destinations.ts";
import { type EventRow, insertEvents, newDeliveryOf } from "./store/events.ts";

/** Deliveries in one statement, unless a single event has more. Postgres takes 31 µs for each of 100, and 25 for each of 350. */
const DELIVERIES_AT_ONCE = 256;
/** Characters of payloads in one statement, unless a single event has more: as many as in one of the relay's calls. */
const CHARACTERS_AT_ONCE = 1024 * 1024;
/**
 * Statements in progress. An owner has one at a time: a second one for the same destination would wait for the first
 * one's commit and hold a connection in the meantime.
 */
const STATEMENTS = { what: "webhook events", totalBytes: 6, ownerBytes: 1, waitingMax: 1 };
/** Calls of one owner that may wait for a statement. */
const CALLS_MAX = 1_000;
/** Owners whose destinations are read in one statement. */
const OWNERS_AT_ONCE = 128;

/** Stores events, with one delivery for each enabled destination of their owner that wants them. No owner waits for another's. */
export type Accept = (events: readonly EventRow[]) => Promise<unknown>;

interface WantedEvent {
  event: EventRow;
  destinations: readonly ScheduledDestination[];
}

/** The events of one owner in one call. */
interface Call {
  /** Not in a statement yet. */
  left: WantedEvent[];
  stored(): void;
  failed(error: unknown): void;
}

/** Events that calls have waiting when a statement ends go into the next one together, because each statement is a commit. */
export function acceptor(db: Database, now: () => Date): Accept {
  const shares = byteShares(STATEMENTS);
  /** Each owner's calls that wait, in order. */
  const waiting = new Map<string, Call[]>();
  const enabledOf = batched((ownerIds: readonly string[]) => readEnabled(db, ownerIds), OWNERS_AT_ONCE, {
    idOf: (ownerId) => ownerId,
  });

  /** Adds a call to its owner's queue, and starts working through the queue if that is not in progress. */
  function enqueue(ownerId: string, left: WantedEvent[]): Promise<void> {
    const { promise, resolve: stored, reject: failed } = Promise.withResolvers<void>();
    const call: Call = { left, stored, failed };
    const calls = waiting.get(ownerId);
    if (calls && calls.length >= CALLS_MAX) throw tooMany();
    if (calls) calls.push(call);
    else {
      waiting.set(ownerId, [call]);
      storeWaiting(ownerId);
    }
    return promise;
  }

  async function storeWaiting(ownerId: string): Promise<void> {
    for (let calls = waiting.get(ownerId); calls; calls = waiting.get(ownerId)) {
      const share = await shares.hold(ownerId, 1);
      const { wanted, from } = nextStatement(calls);
      try {
        await store(db, wanted, now());
      } catch (error) {
        for (const call of from) {
          call.left = [];
          call.failed(error);
        }
      } finally {
        share.release();
      }
      for (const call of from) if (call.left.length === 0) call.stored();
      const rest = calls.filter(({ left }) => left.length > 0);
      if (rest.length > 0) waiting.set(ownerId, rest);
      else waiting.delete(ownerId);
    }
  }

  return async (events) => {
    // Deduplicates, because a repeated event in one statement would be delivered twice.
    const distinct = new Map(events.map((event) => [`${event.ownerId} ${event.eventId}`, event]));
    const stored = [...Map.groupBy(distinct.values(), ({ ownerId }) => ownerId)].map(async ([ownerId, owned]) => {
      const destinations = await enabledOf(ownerId);
      // An event that no destination wants is not stored.
      const wanted = owned
        .map((event) => ({ event, destinations: destinations.filter(({ events }) => events.includes(event.event)) }))
        .filter((each) => each.destinations.length > 0);
      if (wanted.length > 0) await enqueue(ownerId, wanted);
    });
    // Waits for all, so that a call's events count (accept-bounds.ts) until they are stored.
    for (const outcome of await Promise.allSettled(stored)) if (outcome.status === "rejected") throw outcome.reason;
  };
}

/** Each owner's enabled destinations. */
async function readEnabled(db: Database, ownerIds: readonly string[]): Promise<ScheduledDestination[][]> {
  const enabled = Map.groupBy(await listEnabled(db, ownerIds), ({ ownerId }) => ownerId);
  return ownerIds.map((ownerId) => enabled.get(ownerId) ?? []);
}

/**
 * Takes what one statement stores from the calls: an event with all of its deliveries, because a statement without the event
 * would find it stored already, and no event twice.
 * @returns also the calls that it takes from
 */
function nextStatement(calls: readonly Call[]): { wanted: WantedEvent[]; from: Call[] } {
  const wanted = new Map<string, WantedEvent>();
  const from: Call[] = [];
  let deliveries = 0;
  let characters = 0;
  for (const call of calls) {
    from.push(call);
    for (const [at, next] of call.left.entries()) {
      deliveries += next.destinations.length;
      characters += next.event.payload.length;
      const isFull = deliveries > DELIVERIES_AT_ONCE || characters > CHARACTERS_AT_ONCE;
      if ((wanted.size > 0 && isFull) || wanted.has(next.event.eventId)) {
        call.left = call.left.slice(at);
        if (at === 0) from.pop();
        return { wanted: [...wanted.values()], from };
      }
      wanted.set(next.event.eventId, next);
    }
    call.left = [];
  }
  return { wanted: [...wanted.values()], from };
}

function tooMany(): ServiceError {
  return new ServiceError("rate_limited", "This account has too many webhook events in progress. Try again.", {
    retryAfterMs: 1_000,
  });
}

async function store(db: Database, wanted: readonly WantedEvent[], now: Date): Promise<void> {
  const deliveries = wanted.flatMap(({ event, destinations }) =>
    destinations.map(({ destinationId, retrySchedule }) =>
      newDeliveryOf(event, destinationId, newDelivery(retrySchedule, now)),
    ),
  );
  const events = wanted.map(({ event }) => event);
  await insertEvents(db, events, deliveries, QUEUE, now);
}
