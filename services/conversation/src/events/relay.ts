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
/** Events read, built, stored and sent together, and the bytes of their payloads: what this process holds of them at a time. */
const BATCH_MAX = 50;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
/** Another replica takes over so long after this one died. */
const LEASE_MS = 10_000;
const RETRY_MAX_MS = 30_000;
/** From the end of its conversation, how long an event is tried that the dispatcher refuses: a newer one may know it. */
const REFUSED_MS = 24 * 60 * 60_000;
/** An event whose transaction ended as a run did could not wake it (0005_conversation_events): it is found by the next run. */
const LOOK_AGAIN_MS = { busy: 250, idle: 2_000 };

const givenUp = counter("parley.events.given_up", "Events that the webhook dispatcher can never take", "{event}");

/** Starts the one relay of all replicas, if it does not run yet. */
export async function startEventRelay(ctx: ConversationContext): Promise<void> {
  // From the start: what appears with the first one has no rate to alert on then.
  givenUp().add(0);
  await enqueueJobOnce(ctx.db, { ownerId: "", jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: ctx.clock.now() });
}

/**
 * Brings the events of ended conversations to the webhook dispatcher, at least once each, in one replica at a time. Owners take turns:
 * one that has many due delays an event of another's by about a batch.
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
  /** Served last: the one after it is next. */
  lastOwnerId: string;
  heldBytes: number;
}

/** 1 s, 2 s, 4 s and so on, for as long as it takes. @param attempts that failed */
function retryDelayMs(attempts: number): number {
  return Math.min(RETRY_MAX_MS, 500 * 2 ** attempts);
}

/** @returns when to look again */
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

/** Those of the owners after that one; after the last owner the round begins anew. */
async function findNextEvents({ db, clock }: ConversationContext, lastOwnerId: string): Promise<DueEvent[]> {
  const events = await findDueEvents(db, clock.now(), BATCH_MAX, lastOwnerId);
  return events.length > 0 || lastOwnerId === "" ? events : findDueEvents(db, clock.now(), BATCH_MAX, "");
}

/** At least one, however large. The others are found again. */
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

/** @throws what came of the calls when nobody answered them: the dispatcher is away, and others would fare no better */
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
  log.warn({ err: again[0]?.error, events: again.length }, "events were not accepted, will try again");
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
      "an event is given up: no webhook has it",
    );
  }
}

function partition<T>(all: readonly T[], belongs: (each: T) => boolean): [T[], T[]] {
  return [all.filter(belongs), all.filter((each) => !belongs(each))];
}
