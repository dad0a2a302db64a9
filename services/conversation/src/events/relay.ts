import { enqueueJobOnce, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { counter } from "@parley/shared/telemetry/instruments";
import type { ConversationContext } from "../context.ts";
import {
  type DueEvent,
  deleteEvents,
  findNextDueEvent,
  giveUpEvents,
  putOffEvents,
} from "../store/conversation-events.ts";
import { type LaneState, noLanes, relayInLanes } from "./lanes.ts";
import { readyToSend } from "./ready.ts";
import { type Failure, sendEvents, wasInVain } from "./send.ts";

const QUEUE = "relay-events";
/** Another replica takes over this long after this one died. */
const LEASE_MS = 10_000;
const RETRY_MAX_MS = 30_000;
/** How long after its conversation's end an event that the dispatcher refuses is retried: a newer dispatcher may accept it. */
const REFUSED_MS = 24 * 60 * 60_000;
/** An event committed just as a run ended cannot wake the queue (0005_conversation_events); the next run finds it. */
const LOOK_AGAIN_MS = { busy: 250, idle: 2_000 };

const givenUp = counter("parley.events.given_up", "Events that the webhook dispatcher never accepted", "{event}");

/** Starts the relay that all replicas share, unless it is running. */
export async function startEventRelay(ctx: ConversationContext): Promise<void> {
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  givenUp().add(0);
  await enqueueJobOnce(ctx.db, { ownerId: "", jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: ctx.clock.now() });
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
  return {
    queues: { [QUEUE]: { concurrency: 1, leaseMs: LEASE_MS, retryDelayMs, run } },
    stop: observeHeldBytes("events", () => state.heldBytes),
  };
}

/** Backs off from 1 s to `RETRY_MAX_MS`; never gives up. @param attempts failed so far */
function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MAX_MS, 500 * 2 ** attempts);
}

/** @returns when to run again */
async function relay(ctx: ConversationContext, log: Logger, state: LaneState, lease: AbortSignal): Promise<Date> {
  const { db, clock, turns } = ctx;
  const isOver = () => turns.cutOff.aborted || lease.aborted;
  const wasBusy = await relayInLanes(ctx, state, (events) => relayBatch(ctx, log, events), isOver);
  const latest = clock.now().getTime() + (wasBusy ? LOOK_AGAIN_MS.busy : LOOK_AGAIN_MS.idle);
  const next = await findNextDueEvent(db);
  return new Date(Math.min(latest, next?.getTime() ?? latest));
}

/** @throws the calls' error when none was answered: the dispatcher is down, and further batches would fail too */
async function relayBatch(ctx: ConversationContext, log: Logger, events: readonly DueEvent[]): Promise<void> {
  const { db, clock } = ctx;
  const outcome = await sendEvents(ctx, await readyToSend(ctx, log, events));
  const { sent, refused, failed } = outcome;
  if (sent.length > 0) await deleteEvents(db, sent);
  const now = clock.now().getTime();
  const [hopeless, others] = partition(refused, ({ event }) => event.endedAt.getTime() < now - REFUSED_MS);
  await giveUp(ctx, log, hopeless);
  const again = [...others, ...failed];
  if (again.length === 0) return;
  const putOff = again.map(({ event }) => ({ ...event, until: new Date(now + retryDelayMs(event.attempts + 1)) }));
  await putOffEvents(db, putOff);
  if (wasInVain(outcome)) throw failed[0]?.error;
  log.warn({ err: again[0]?.error, events: again.length }, "webhook dispatcher did not accept events, will retry");
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
