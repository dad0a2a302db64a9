import { HAND_OVER } from "@parley/shared/jobs/worker";
import { every, persistently } from "@parley/shared/persistently";
import type { Sealer } from "@parley/shared/sealing";
import { signer } from "../secrets.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import type { DestinationKey, DestinationRow } from "../store/destinations.ts";
import { type Attempt, makeAttempt, type Sender, type Target } from "./attempt.ts";
import type { LendPayload } from "./payloads.ts";
import type { Settle } from "./settle.ts";
import type { DeliveryState } from "./state.ts";

export interface LaneContext {
  /** What a destination is now and gets next, those due first; read with what other lanes ask for. */
  read(question: LaneQuestion): Promise<LaneAnswer>;
  /** Cancels what is pending of a destination that takes nothing any more. */
  cancel(key: DestinationKey): Promise<void>;
  lend: LendPayload;
  settle: Settle;
  sender: Sender;
  sealer: Sealer;
  /** Attempts that one lane of an owner may have under way now. */
  places(ownerId: string): number;
  /** How long a lane that always has something due keeps its destination, milliseconds; then the processes share anew. */
  turnMs: number;
  /** Fires at a stop: nothing more is begun. */
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
  /** Settles when nothing is due, with the time when something will be, or when it leaves the rest to another process. */
  work(): Promise<Date | typeof HAND_OVER | undefined>;
  /** There may be more to deliver, or the destination has changed. */
  wake(): void;
  /** Bytes of the payloads that it has read ahead, under way or not. */
  readAheadBytes(): number;
}

/** Read ahead, in attempts that may be under way. */
const AHEAD = 4;
const READ_MIN = 16;
/** Between reads at least, when there may be something new, for a lane that has little to do and for one that has enough. */
const HURRY_MS = 10;
const REFRESH_MS = 250;
/** Should a wake get lost. */
const POLL_MS = 2_000;
const SETTLE_RETRY_MS = 250;

/**
 * Delivers to one destination, in one process at a time: whoever holds the destination's job. So nothing has to be written to claim
 * a delivery, the receiver meets no more attempts at once than one process makes, and a destination that is slow keeps only its
 * own lane waiting.
 */
export function createLane(ctx: LaneContext, key: DestinationKey, lease: AbortSignal): Lane {
  const { sender, stopping } = ctx;
  const places = () => ctx.places(key.ownerId);
  let row: DestinationRow | null = null;
  let target: Target | null = null;
  /** Read and not begun. */
  let waiting: PendingDelivery[] = [];
  /** There is more than was read. */
  let more = false;
  /** When a delivery will be due that is not yet, and the same of those settled since the last read began. */
  let nextAt: Date | null = null;
  let retryAt: Date | null = null;
  /** Begun; what is settled stays until the next read begins, as the read under way may still see it pending. */
  const begun = new Set<string>();
  const settled: string[] = [];
  let underWay = 0;
  let underWayBytes = 0;
  let unsettled = 0;
  let woken = false;
  let readMs = 0;
  let pause: { end(): void; change(): void } | null = null;

  const ending = new AbortController();
  // Not all at once, as they began: each goes to whoever is free.
  const turnEndsAt = performance.now() + ctx.turnMs * (0.5 + Math.random());
  const isOver = () => ending.signal.aborted || lease.aborted || stopping.aborted || performance.now() > turnEndsAt;

  async function work(): Promise<Date | typeof HAND_OVER | undefined> {
    const end = () => pause?.end();
    lease.addEventListener("abort", end);
    stopping.addEventListener("abort", end);
    try {
      while (!isOver()) {
        // Only such a read has seen all there is: what is settled while one is under way may have to be retried.
        const seesAll = unsettled === 0;
        await refill();
        if (seesAll && unsettled === 0 && waiting.length === 0) return nextAt ?? undefined;
        await paused();
      }
      return HAND_OVER;
    } finally {
      ending.abort();
      // What is under way is settled whatever happened, or it would be made again.
      while (unsettled > 0) await paused();
      lease.removeEventListener("abort", end);
      stopping.removeEventListener("abort", end);
    }
  }

  async function refill(): Promise<void> {
    for (const id of settled.splice(0)) begun.delete(id);
    woken = false;
    retryAt = null;
    readMs = performance.now();
    const limit = Math.max(READ_MIN, AHEAD * places());
    const { destination, pending } = await ctx.read({ ...key, limit, except: [...begun] });
    if (!destination?.enabled) {
      // One that was added while the destination was being disabled or deleted.
      if (pending.length > 0) await ctx.cancel(key);
      waiting = [];
      more = false;
      nextAt = null;
      return;
    }
    if (!target || !Bun.deepEquals(row, destination)) target = targetOf(ctx.sealer, destination);
    row = destination;
    const now = sender.clock.now();
    const unbegun = pending.filter(({ deliveryId }) => !begun.has(deliveryId));
    waiting = unbegun.filter(({ nextAttemptAt }) => nextAttemptAt <= now);
    const later = unbegun.find(({ nextAttemptAt }) => nextAttemptAt > now)?.nextAttemptAt ?? null;
    nextAt = earlier(later, retryAt);
    more = pending.length === limit && later === null;
    begin();
  }

  function begin(): void {
    while (target && !isOver() && underWay < places() && unsettled < 2 * places()) {
      const delivery = waiting.shift();
      if (!delivery) return;
      send(target, delivery);
    }
  }

  async function send(to: Target, delivery: PendingDelivery): Promise<void> {
    const bytes = readAhead(delivery);
    begun.add(delivery.deliveryId);
    underWay++;
    underWayBytes += bytes;
    unsettled++;
    const attempt = await attemptOf(to, delivery);
    underWay--;
    underWayBytes -= bytes;
    begin();
    const state = attempt && (await settle(delivery, attempt));
    settled.push(delivery.deliveryId);
    unsettled--;
    retryAt = earlier(retryAt, state?.nextAttemptAt ?? null);
    nextAt = earlier(nextAt, retryAt);
    if (attempt) tell(delivery, attempt, state);
    begin();
    if (readInMs() <= 0) pause?.end();
  }

  /** Null when it was not made: the delivery is pending as before, unless that is why. */
  async function attemptOf(to: Target, delivery: PendingDelivery): Promise<Attempt | null> {
    try {
      return await ctx.lend(delivery, ending.signal, (payload) => makeAttempt(sender, to, delivery, payload));
    } catch (err) {
      sender.log.warn({ err, destination_id: key.destinationId }, "a payload cannot be read, will try again");
      woken = true;
      return null;
    }
  }

  function tell(delivery: PendingDelivery, attempt: Attempt, state: DeliveryState | null): void {
    sender.log.info(
      {
        owner_id: delivery.ownerId,
        destination_id: delivery.destinationId,
        delivery_id: delivery.deliveryId,
        event_id: delivery.eventId,
        attempt: delivery.attempts + 1,
        http_status: attempt.httpStatus,
        error: attempt.error,
        ms: attempt.durationMs,
        status: state?.status ?? "lost",
      },
      "webhook attempt",
    );
  }

  function readInMs(): number {
    if (unsettled === 0) return 0;
    if (isOver()) return POLL_MS;
    const enough = places();
    if (more && waiting.length < enough) return 0;
    if (woken) return readMs + (waiting.length < enough ? HURRY_MS : REFRESH_MS) - performance.now();
    return nextAt ? Math.max(1, Math.min(nextAt.getTime() - sender.clock.now().getTime(), POLL_MS)) : POLL_MS;
  }

  /** Until it is time to read again, or, when all is over, until one more attempt is settled. */
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

  /** Until the database has it. Null at a stop: another process may make the attempt again, as after a crash. */
  async function settle(delivery: PendingDelivery, attempt: Attempt): Promise<DeliveryState | null> {
    let isTold = false;
    return persistently(() => ctx.settle({ delivery, attempt }), {
      delaysMs: every(SETTLE_RETRY_MS),
      goesOn(err) {
        // Once for each attempt: there may be many, and the database away for long.
        if (!isTold)
          sender.log.warn({ err, destination_id: key.destinationId }, "the end of a webhook attempt is not stored yet");
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other;
  return one < other ? one : other;
}

/** A secret that cannot be opened fails the attempts, which are then seen, and not the lane, which would be tried for ever. */
function targetOf(sealer: Sealer, destination: DestinationRow): Target {
  const { url, requestType } = destination;
  try {
    return { url, requestType, sign: signer(sealer, destination) };
  } catch (error) {
    const sign = () => {
      throw error;
    };
    return { url, requestType, sign };
  }
}
