import { HAND_OVER } from "@parley/shared/jobs/worker";
import { every, persistently } from "@parley/shared/retry/persistently";
import type { Sealer } from "@parley/shared/sealing";
import type { Pace } from "@parley/shared/shares/pace";
import type { DeliveryState, PendingDelivery } from "../store/deliveries.ts";
import type { DestinationKey, DestinationRow } from "../store/destinations.ts";
import { type Attempt, makeAttempt, type Sender, type Target } from "./attempt.ts";
import { logAttempt } from "./log-attempt.ts";
import type { LendPayload } from "./payloads.ts";
import type { MadeAttempt, Settle } from "./settle.ts";
import { targetOf } from "./target.ts";

export interface LaneContext {
  /** Reads a destination and its next deliveries, due ones first, batched with other lanes' reads. */
  read(question: LaneQuestion): Promise<LaneAnswer>;
  /** Cancels pending deliveries of a destination if it is disabled or deleted: a part, if there are many. */
  cancel(key: DestinationKey): Promise<void>;
  lend: LendPayload;
  settle: Settle;
  sender: Sender;
  sealer: Sealer;
  /** Paces an owner's attempts to destinations whose last one failed or got a long response. */
  costly: Pace;
  /** How many concurrent attempts each of an owner's lanes may make now. */
  places(ownerId: string): number;
  /** How long a lane that always has due deliveries may keep its destination now, in milliseconds. */
  turnMs(): number;
  /** Fires at shutdown: no new attempts start. */
  stopping: AbortSignal;
}

export interface LaneQuestion extends DestinationKey {
  limit: number;
  except: readonly string[];
}

export interface LaneAnswer {
  destination: DestinationRow | null;
  pending: PendingDelivery[];
}

export interface Lane {
  /** Resolves when nothing is due, with the time of the next delivery, or when it hands the rest over to another process. */
  work(): Promise<Date | typeof HAND_OVER | undefined>;
  /** Call when there may be new deliveries or the destination has changed. */
  wake(): void;
  /** Bytes of the payloads read ahead, including those being sent. */
  readAheadBytes(): number;
}

/** How many deliveries to read ahead, as a multiple of the concurrent attempts. */
const AHEAD = 8;
/** A lane with fewer waiting deliveries, as a multiple of the same, reads more if there are: enough for the time that a read takes. */
const LOW = 3;
/**
 * How many attempts may be in progress or wait to be stored, as a multiple of the concurrent ones: enough for the statement before
 * theirs and their own (settle.ts). They are repeated after a crash.
 */
const UNSETTLED = 8;
const READ_MIN = 16;
/** Shortest time between reads when there may be new deliveries: for a lane that has run low and for one that has enough. */
const HURRY_MS = 10;
const REFRESH_MS = 250;
/** Covers lost wake-ups. */
const POLL_MS = 2_000;
const SETTLE_RETRY_MS = 250;
/** Pause before a payload that could not be read is read again: the longer, the longer its delivery has been due. */
const UNREAD_MIN_MS = 1_000;
const UNREAD_MAX_MS = 60_000;
/** With so many of them, the lane ends as a failed job, which pauses all of it. */
const UNREAD_MAX = 1_000;
/** What arrives of an endless response before it is cut off, at least: the 16 KiB that are parsed at once, without an ordinary head. */
const LONG_RESPONSE_BYTES = 8 * 1024;

/**
 * Delivers to one destination, in the one process that holds the destination's job. So no write is needed to claim a
 * delivery, the receiver sees at most one process's concurrency, and a slow destination delays only its own lane.
 */
export function createLane(ctx: LaneContext, key: DestinationKey, lease: AbortSignal): Lane {
  const { sender, stopping } = ctx;
  const places = () => ctx.places(key.ownerId);
  let row: DestinationRow | null = null;
  let target: Target | null = null;
  /** Read but not started. */
  let waiting: PendingDelivery[] = [];
  /** Whether more is pending than was read. */
  let more = false;
  /** When the next delivery becomes due, among those read and among those settled since the last read began. */
  let nextAt: Date | null = null;
  let retryAt: Date | null = null;
  /** Started deliveries; settled ones stay until the next read begins, because the current read may still see them as pending. */
  const begun = new Set<string>();
  const settled: string[] = [];
  /** Deliveries whose payload could not be read, with the time of the next try. */
  const unread = new Map<string, Date>();
  let underWay = 0;
  let underWayBytes = 0;
  let unsettled = 0;
  /** Whether the last attempt failed or got a long response; null before the first. */
  let isCostly: boolean | null = null;
  /** Whether an attempt waits for the pace of costly ones. Those behind it do not begin, so that they can still be cancelled. */
  let isHeldUp = false;
  let woken = false;
  let readMs = 0;
  /** When everything in `waiting` was last read, including what had been read before. */
  let readAllMs = 0;
  let pause: { end(): void; change(): void } | null = null;

  const ending = new AbortController();
  // Randomized so that lanes that started together do not end together.
  const partOfTurn = 0.5 + Math.random();
  const beganAt = performance.now();
  const isOver = () =>
    ending.signal.aborted ||
    lease.aborted ||
    stopping.aborted ||
    performance.now() - beganAt > ctx.turnMs() * partOfTurn;

  async function work(): Promise<Date | typeof HAND_OVER | undefined> {
    const end = () => pause?.end();
    lease.addEventListener("abort", end);
    stopping.addEventListener("abort", end);
    try {
      while (!isOver()) {
        // Only a read without concurrent attempts sees everything: an attempt that ends in the meantime may need a retry.
        const seesAll = unsettled === 0;
        await refill();
        if (unread.size >= UNREAD_MAX) throw new Error("many payloads of a destination cannot be read");
        if (seesAll && unsettled === 0 && waiting.length === 0) return nextAt ?? undefined;
        await paused();
      }
      return HAND_OVER;
    } finally {
      ending.abort();
      // Settles running attempts in any case, or they would be made again.
      while (unsettled > 0) await paused();
      lease.removeEventListener("abort", end);
      stopping.removeEventListener("abort", end);
    }
  }

  async function refill(): Promise<void> {
    for (const id of settled.splice(0)) begun.delete(id);
    for (const [id, at] of unread) if (at <= sender.clock.now()) unread.delete(id);
    woken = false;
    retryAt = null;
    readMs = performance.now();
    const limit = Math.max(READ_MIN, AHEAD * places());
    // Otherwise a fifth of what a busy lane reads is what it has. Only for a while, because a delivery may be cancelled or removed.
    const kept = more && readMs - readAllMs < REFRESH_MS ? waiting : [];
    if (kept !== waiting) readAllMs = readMs;
    const except = [...begun, ...unread.keys(), ...kept.map(({ deliveryId }) => deliveryId)];
    const { destination, pending } = await ctx.read({ ...key, limit, except });
    if (!destination?.enabled) {
      // Many are cancelled part by part, and one may have been added while the destination was being disabled or deleted.
      if (pending.length > 0) await ctx.cancel(key);
      target = null;
      waiting = [];
      more = false;
      nextAt = pending.length > 0 ? sender.clock.now() : null;
      return;
    }
    if (!target || !Bun.deepEquals(row, destination)) target = targetOf(ctx.sealer, destination);
    row = destination;
    const now = sender.clock.now();
    const unbegun = pending.filter(({ deliveryId }) => !begun.has(deliveryId));
    waiting = [...kept, ...unbegun.filter(({ nextAttemptAt }) => nextAttemptAt <= now)];
    const later = unbegun.find(({ nextAttemptAt }) => nextAttemptAt > now)?.nextAttemptAt ?? null;
    nextAt = [retryAt, ...unread.values()].reduce(earlier, later);
    more = pending.length === limit && later === null;
    begin();
  }

  function begin(): void {
    while (target && !isOver() && !isHeldUp && underWay < places() && unsettled < UNSETTLED * places()) {
      const delivery = waiting.shift();
      if (!delivery) return;
      send(delivery);
    }
  }

  async function send(delivery: PendingDelivery): Promise<void> {
    const bytes = readAhead(delivery);
    begun.add(delivery.deliveryId);
    underWay++;
    underWayBytes += bytes;
    unsettled++;
    // A new lane knows only what the delivery has met.
    if (isCostly ?? delivery.attempts > 0) await pace();
    const to = target;
    const attempt = to && !ending.signal.aborted ? await attemptOf(to, delivery) : null;
    if (attempt) isCostly = !attempt.succeeded || attempt.receivedBytes >= LONG_RESPONSE_BYTES;
    underWay--;
    underWayBytes -= bytes;
    // Memory that is no longer counted: many attempts may wait to be stored.
    delivery.payload = null;
    begin();
    const state = to && attempt && (await settle({ delivery, attempt, schedule: to.retrySchedule }));
    settled.push(delivery.deliveryId);
    unsettled--;
    retryAt = earlier(retryAt, state?.nextAttemptAt ?? null);
    nextAt = earlier(nextAt, retryAt);
    if (attempt) logAttempt(sender.log, delivery, attempt, state);
    begin();
    if (readInMs() <= 0) pause?.end();
  }

  /** Waits until the owner's costly attempts allow another one, or the lane ends. */
  async function pace(): Promise<void> {
    isHeldUp = true;
    await ctx.costly.take(key.ownerId, 1, ending.signal);
    isHeldUp = false;
    if (!ending.signal.aborted) begin();
  }

  /** Returns null when no attempt was made; the delivery stays pending unless it was removed. */
  async function attemptOf(to: Target, delivery: PendingDelivery): Promise<Attempt | null> {
    try {
      return await ctx.lend(delivery, ending.signal, (payload) => makeAttempt(sender, to, delivery, payload));
    } catch (err) {
      sender.log.warn({ err, destination_id: key.destinationId }, "cannot read a payload, will retry");
      const again = unreadUntil(delivery, sender.clock.now());
      unread.set(delivery.deliveryId, again);
      nextAt = earlier(nextAt, again);
      pause?.change();
      return null;
    }
  }

  function readInMs(): number {
    if (unsettled === 0) return 0;
    if (isOver()) return POLL_MS;
    const enough = places();
    if (more && waiting.length < LOW * enough) return 0;
    if (woken) return readMs + (waiting.length < enough ? HURRY_MS : REFRESH_MS) - performance.now();
    return nextAt ? Math.max(1, Math.min(nextAt.getTime() - sender.clock.now().getTime(), POLL_MS)) : POLL_MS;
  }

  /** Waits for the next read or, at the end, until another attempt is settled. */
  async function paused(): Promise<void> {
    const ms = readInMs();
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    let timer = setTimeout(resolve, ms);
    pause = {
      end: resolve,
      change: () => {
        clearTimeout(timer);
        timer = setTimeout(resolve, Math.max(1, readInMs()));
      },
    };
    await promise;
    clearTimeout(timer);
    pause = null;
  }

  function wake(): void {
    if (woken) return;
    woken = true;
    if (readInMs() <= 0) pause?.end();
    else pause?.change();
  }

  /** Retries until the database accepts it. Returns null at shutdown: another process may repeat the attempt, as after a crash. */
  async function settle(made: MadeAttempt): Promise<DeliveryState | null> {
    let isTold = false;
    return persistently(() => ctx.settle(made), {
      delaysMs: every(SETTLE_RETRY_MS),
      goesOn(err) {
        // Logs once per attempt, because there may be many and the database may be down for long.
        if (!isTold)
          sender.log.warn(
            { err, destination_id: key.destinationId },
            "cannot store the outcome of a webhook attempt yet",
          );
        isTold = true;
        return !stopping.aborted;
      },
    }).catch(() => null);
  }

  return { work, wake, readAheadBytes: () => underWayBytes + sum(waiting.map(readAhead)) };
}

function readAhead({ payload, payloadBytes }: PendingDelivery): number {
  return payload === null ? 0 : payloadBytes;
}

function unreadUntil({ nextAttemptAt }: PendingDelivery, now: Date): Date {
  const overdueMs = now.getTime() - nextAttemptAt.getTime();
  return new Date(now.getTime() + Math.max(UNREAD_MIN_MS, Math.min(overdueMs / 10, UNREAD_MAX_MS)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one < other ? one : other;
}
