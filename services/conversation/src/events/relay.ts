import { enqueueJobOnce, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
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
} from "../store/conversation-events.ts";
import { readyToSend } from "./ready.ts";
import { type Failure, sendEvents, wasInVain } from "./send.ts";

const QUEUE = "relay-events";
/** Bounds on the events, and on the bytes of their payloads, that the process holds at a time. */
const BATCH_MAX = 50;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
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
 * take turns: an owner with a long backlog delays another owner's event by about one batch.
 */
export function eventRelayQueue(
  ctx: ConversationContext,
  log: Logger,
): { queues: Record<string, Queue>; stop(): void } {
  const state: RelayState = { lastOwnerId: "", heldBytes: 0 };
  const run = (_: Job, lease: AbortSignal) => relay(ctx, log, state, lease);
  return {
    queues: { [QUEUE]: { concurrency: 1, leaseMs: LEASE_MS, retryDelayMs, run } },
    stop: observeHeldBytes("events", () => state.heldBytes),
  };
}

interface RelayState {
  /** The owner served last; the next one in order follows. */
  lastOwnerId: string;
  heldBytes: number;
}

/** Backs off from 1 s to `RETRY_MAX_MS`; never gives up. @param attempts failed so far */
function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MAX_MS, 500 * 2 ** attempts);
}

/** @returns when to run again */
async function relay(ctx: ConversationContext, log: Logger, state: RelayState, lease: AbortSignal): Promise<Date> {
  const { db, clock, turns } = ctx;
  let wasBusy = false;
  while (!turns.cutOff.aborted && !lease.aborted) {
    const batch = beginningWithin(await findNextEvents(ctx, state.lastOwnerId), BATCH_BYTES_MAX);
    const last = batch.at(-1);
    if (!last) break;
    wasBusy = true;
    state.lastOwnerId = last.ownerId;
    state.heldBytes = bytesOf(batch);
    await relayBatch(ctx, log, batch).finally(() => {
      state.heldBytes = 0;
    });
  }
  const latest = clock.now().getTime() + (wasBusy ? LOOK_AGAIN_MS.busy : LOOK_AGAIN_MS.idle);
  const next = await findNextDueEvent(db);
  return new Date(Math.min(latest, next?.getTime() ?? latest));
}

/** Finds the events of the owners after `lastOwnerId`, starting over after the last owner. */
async function findNextEvents({ db, clock }: ConversationContext, lastOwnerId: string): Promise<DueEvent[]> {
  const events = await findDueEvents(db, clock.now(), BATCH_MAX, lastOwnerId);
  return events.length > 0 || lastOwnerId === "" ? events : findDueEvents(db, clock.now(), BATCH_MAX, "");
}

/** Returns at least one event, however large. The next run finds the others. */
function beginningWithin(events: readonly DueEvent[], bytesMax: number): DueEvent[] {
  let bytes = 0;
  return events.filter(({ bytesMax: more }, at) => {
    bytes += more;
    return at === 0 || bytes <= bytesMax;
  });
}

function bytesOf(events: readonly DueEvent[]): number {
  return events.reduce((sum, { bytesMax }) => sum + bytesMax, 0);
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
