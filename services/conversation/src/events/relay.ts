import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { retryDelayMs } from "@parley/shared/jobs/queue";
import { timeSlice } from "@parley/shared/jobs/time-slice";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import type { ConversationContext } from "../context.ts";
import {
  type DueEvent,
  deleteEvents,
  findDueEvents,
  findNextDueEvent,
  giveUpEvents,
  putOffEvents,
} from "../store/events/owner-events.ts";
import { RELAY } from "../store/events/tell-relay.ts";
import { dispatcherOutage, type Outage } from "./outage.ts";
import { readyToSend } from "./ready.ts";
import { type Failure, isUnreachable, type SendOutcome, sendEvents } from "./send.ts";

/** Owners whose events a process relays at once. */
const OWNERS_MAX = 16;
/** Bounds on the events, and on the bytes of their payloads, that are prepared at a time for one owner. */
const BATCH_MAX = 50;
const BATCH_BYTES_MAX = 2 * 1024 * 1024;
/** Another process takes over an owner's events this long after this one died. */
const LEASE_MS = 10_000;
/** How long after it happened an event that the dispatcher refuses is retried: a newer dispatcher may accept it. */
const REFUSED_MS = 24 * 60 * 60_000;
/**
 * How long after events were read they may be sent. A process that was frozen, or that takes long, reads them again: meanwhile their
 * conversations may have been deleted, which the dispatcher is told a minute later (retention/forget.ts).
 */
const SEND_WITHIN_MS = 30_000;

const givenUp = counter("parley.events.given_up", "Events that the webhook dispatcher never accepted", "{event}");

interface RelayContext extends ConversationContext {
  log: Logger;
  outage: Outage;
}

/**
 * Delivers events to the webhook dispatcher, those of a conversation in order, at least once. Runs one job for each owner with events, which
 * the database enqueues with each event (0001_conversation).
 */
export function eventRelayQueue(
  context: ConversationContext,
  log: Logger,
): { queues: Record<string, Queue>; stop(): void } {
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  givenUp().add(0);
  const ctx: RelayContext = { ...context, log, outage: dispatcherOutage(context.clock) };
  const { db, clock, turns, outage } = ctx;
  let heldBytes = 0;
  let running = 0;

  async function relay(ownerId: string, lease: AbortSignal): Promise<Date | typeof HAND_OVER | undefined> {
    const isSliceOver = timeSlice(lease);
    // Other owners may wait for a place: then each batch is a turn.
    const isOver = () => isSliceOver() || running >= OWNERS_MAX || turns.cutOff.aborted;
    for (;;) {
      const pausedUntil = outage.endsAt();
      if (pausedUntil) return pausedUntil;
      const batch = beginningWithin(await findDueEvents(db, ownerId, clock.now(), BATCH_MAX), BATCH_BYTES_MAX);
      await holding(batch, () => relayBatch(ctx, batch));
      const next = await findNextDueEvent(db, ownerId);
      if (!next || next > clock.now()) return next ?? undefined;
      if (isOver()) return HAND_OVER;
    }
  }

  async function holding(batch: readonly DueEvent[], work: () => Promise<void>): Promise<void> {
    const bytes = batch.reduce((sum, { bytesMax }) => sum + bytesMax, 0);
    heldBytes += bytes;
    try {
      await work();
    } finally {
      heldBytes -= bytes;
    }
  }

  const queue: Queue = {
    concurrency: OWNERS_MAX,
    leaseMs: LEASE_MS,
    run: async ({ ownerId }, lease) => {
      running++;
      try {
        return await relay(ownerId, lease);
      } finally {
        running--;
      }
    },
  };
  return { queues: { [RELAY]: queue }, stop: observeHeldBytes("events", () => heldBytes) };
}

/** Returns at least one event if there are any, however large. */
function beginningWithin(events: readonly DueEvent[], bytesMax: number): DueEvent[] {
  let bytes = 0;
  return events.filter(({ bytesMax: more }, at) => {
    bytes += more;
    return at === 0 || bytes <= bytesMax;
  });
}

/**
 * If a batch cannot be prepared, its halves are, so that one event does not block the others.
 * @throws the error of a database that cannot be reached
 */
async function relayBatch(ctx: RelayContext, events: readonly DueEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { clock, log, outage } = ctx;
  const readAt = clock.now().getTime();
  const ready = await readyToSend(ctx, log, events).catch((error: unknown) => ({ error }));
  if ("error" in ready && isUnreachableDatabase(ready.error)) throw ready.error;
  if ("error" in ready && events.length > 1) {
    const half = Math.ceil(events.length / 2);
    for (const part of [events.slice(0, half), events.slice(half)]) await relayBatch(ctx, part);
    return;
  }
  if ("error" in ready) return storeOutcome(ctx, unprepared(events, ready.error));
  const mayBeSent = () => !outage.endsAt() && clock.now().getTime() - readAt < SEND_WITHIN_MS;
  await storeOutcome(ctx, await sendEvents(ctx, ready, mayBeSent));
}

function unprepared(events: readonly DueEvent[], error: unknown): SendOutcome {
  return { sent: [], refused: [], failed: events.map((event) => ({ event, error })) };
}

async function storeOutcome(ctx: RelayContext, outcome: SendOutcome): Promise<void> {
  const { db, clock, log, outage } = ctx;
  const { sent, refused, failed } = outcome;
  const isDown = isUnreachable(outcome);
  if (isDown || sent.length + refused.length > 0) outage.note(isDown);
  if (isDown) return log.warn({ err: failed[0]?.error }, "the webhook dispatcher cannot be reached, will retry");
  if (sent.length > 0) await deleteEvents(db, sent);
  const now = clock.now().getTime();
  const [hopeless, others] = partition(refused, ({ event }) => event.happenedAt.getTime() < now - REFUSED_MS);
  await giveUp(ctx, hopeless);
  const again = [...others, ...failed];
  if (again.length === 0) return;
  const putOff = again.map(({ event }) => ({ ...event, until: new Date(now + retryDelayMs(event.attempts + 1)) }));
  await putOffEvents(db, putOff);
  log.warn(
    { err: again[0]?.error, events: again.length },
    "could not hand events to the webhook dispatcher, will retry",
  );
}

async function giveUp({ db, log }: RelayContext, failures: readonly Failure[]): Promise<void> {
  if (failures.length === 0) return;
  await giveUpEvents(
    db,
    failures.map(({ event }) => event),
  );
  givenUp().add(failures.length);
  for (const { event, error } of failures) {
    const { ownerId, conversationId } = event;
    log.error(
      { owner_id: ownerId, conversation_id: conversationId, err: error },
      "gave up on an event; no webhook received it",
    );
  }
}

function partition<T>(all: readonly T[], belongs: (each: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((each) => !belongs(each))];
}
