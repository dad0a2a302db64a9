import { isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { enqueueJobOnce, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { backOff } from "@parley/shared/retry/back-off";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import type { ConversationContext } from "../context.ts";
import {
  type DueEvent,
  deleteEvents,
  findNextDueEvent,
  giveUpEvents,
  isEventOnItsWay,
  putOffEvents,
  wakeRelay,
} from "../store/conversation-events.ts";
import { RELAY } from "../store/tell-relay.ts";
import { type LaneState, noLanes, relayInLanes } from "./lanes.ts";
import { readyToSend } from "./ready.ts";
import { type Failure, isUnreachable, type SendOutcome, sendEvents } from "./send.ts";

/** Another replica takes over this long after this one died. */
const LEASE_MS = 10_000;
const RETRY_MAX_MS = 30_000;
/** How long after its conversation's end an event that the dispatcher refuses is retried: a newer dispatcher may accept it. */
const REFUSED_MS = 24 * 60 * 60_000;
/** The longest rest: events wake the relay, except one that leaves it to another whose transaction is then rolled back. */
const REST_MS = 2_000;
/**
 * How long after events were read they may be sent. A process that was frozen, or that takes long, reads them again: meanwhile their
 * conversations may have been deleted, which the dispatcher is told a minute later (retention/forget.ts).
 */
const SEND_WITHIN_MS = 30_000;
/** Pause between looks for events whose transactions began before the rest. */
const LOOK_MS = 25;

const givenUp = counter("parley.events.given_up", "Events that the webhook dispatcher never accepted", "{event}");

/** Starts the relay that all replicas share, unless it is running. */
export async function startEventRelay(ctx: ConversationContext): Promise<void> {
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  givenUp().add(0);
  await enqueueJobOnce(ctx.db, { ownerId: "", jobId: RELAY, queue: RELAY, payload: {}, dueAt: ctx.clock.now() });
}

/**
 * Delivers the events of ended conversations to the webhook dispatcher, at least once, in one replica at a time. Owners
 * are served side by side and take turns (`lanes.ts`).
 */
export function eventRelayQueue(
  ctx: ConversationContext,
  log: Logger,
): { queues: Record<string, Queue>; stop(): void } {
  const state = noLanes();
  const run = (_: Job, lease: AbortSignal) => relay(ctx, log, state, lease);
  const rested = (lease: AbortSignal) => wakeForLateEvents(ctx, lease);
  return {
    queues: { [RELAY]: { concurrency: 1, leaseMs: LEASE_MS, retryDelayMs, run, rested } },
    stop: observeHeldBytes("events", () => state.heldBytes),
  };
}

/** Never gives up. */
const retryDelayMs = backOff(1_000, RETRY_MAX_MS);

/** @returns when to run again */
async function relay(ctx: ConversationContext, log: Logger, state: LaneState, lease: AbortSignal): Promise<Date> {
  const { db, clock } = ctx;
  for (;;) {
    const wereDue = await relayInLanes(
      ctx,
      state,
      (events) => relayBatch(ctx, log, events),
      () => isOver(ctx, lease),
    );
    // Often the last look: it costs less than looking for due owners, and is needed at the end.
    const next = await findNextDueEvent(db);
    const now = clock.now();
    if (wereDue && next && next <= now && !isOver(ctx, lease)) continue;
    const latest = now.getTime() + REST_MS;
    return new Date(Math.min(latest, next?.getTime() ?? latest));
  }
}

/**
 * Makes the relay run again if events were committed that found it running. Those whose transactions are still in progress
 * are waited for, for as long as the relay rests at most.
 */
async function wakeForLateEvents(ctx: ConversationContext, lease: AbortSignal): Promise<void> {
  const { db, clock } = ctx;
  const until = performance.now() + REST_MS;
  while (!isOver(ctx, lease) && performance.now() < until) {
    // Asked first: whoever is no longer on the way has committed, and is seen below.
    const mayMiss = await isEventOnItsWay(db);
    const now = clock.now();
    const next = await findNextDueEvent(db);
    if (next && next <= now) return wakeRelay(db, now);
    if (!mayMiss) return;
    await Bun.sleep(LOOK_MS);
  }
}

function isOver({ turns }: ConversationContext, lease: AbortSignal): boolean {
  return turns.cutOff.aborted || lease.aborted;
}

/**
 * If a batch cannot be prepared, its halves are, so that one event does not block the others.
 * @throws the error of a dispatcher or database that cannot be reached: further batches would fail too
 */
async function relayBatch(ctx: ConversationContext, log: Logger, events: readonly DueEvent[]): Promise<void> {
  const readAt = ctx.clock.now().getTime();
  const ready = await readyToSend(ctx, log, events).catch((error: unknown) => ({ error }));
  if ("error" in ready && isUnreachableDatabase(ready.error)) throw ready.error;
  if ("error" in ready && events.length > 1) {
    const half = Math.ceil(events.length / 2);
    for (const part of [events.slice(0, half), events.slice(half)]) await relayBatch(ctx, log, part);
    return;
  }
  const outcome =
    "error" in ready
      ? unprepared(events, ready.error)
      : await sendEvents(ctx, ready, () => ctx.clock.now().getTime() - readAt < SEND_WITHIN_MS);
  await storeOutcome(ctx, log, outcome);
  if (isUnreachable(outcome)) throw outcome.failed[0]?.error;
}

function unprepared(events: readonly DueEvent[], error: unknown): SendOutcome {
  return { sent: [], refused: [], failed: events.map((event) => ({ event, error })) };
}

async function storeOutcome(ctx: ConversationContext, log: Logger, outcome: SendOutcome): Promise<void> {
  const { db, clock } = ctx;
  const { sent, refused, failed } = outcome;
  if (sent.length > 0) await deleteEvents(db, sent);
  const now = clock.now().getTime();
  const [hopeless, others] = partition(refused, ({ event }) => event.endedAt.getTime() < now - REFUSED_MS);
  await giveUp(ctx, log, hopeless);
  const again = [...others, ...failed];
  if (again.length === 0) return;
  const putOff = again.map(({ event }) => ({ ...event, until: new Date(now + retryDelayMs(event.attempts + 1)) }));
  await putOffEvents(db, putOff);
  if (isUnreachable(outcome)) return;
  log.warn(
    { err: again[0]?.error, events: again.length },
    "could not hand events to the webhook dispatcher, will retry",
  );
}

async function giveUp({ db }: ConversationContext, log: Logger, failures: readonly Failure[]): Promise<void> {
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
