import { ServiceError } from "../errors.ts";
import { passingTime } from "./passing-time.ts";

/** How much of something an owner may use per second. */
export interface Pace {
  /**
   * Counts what the owner is about to use, and waits until its pace allows what was counted before, in the order of the calls.
   * @param gone ends the wait
   * @returns null when there is nothing to wait for
   * @throws ServiceError rate_limited, with nothing counted, if the wait would be too long
   */
  take(ownerId: string, amount: number, gone: AbortSignal): Promise<void> | null;
}

interface Rate {
  perSecond: number;
  /** What may be used at once after a while without use. */
  atOnce: number;
}

export interface PaceSettings extends Rate {
  /** The longest wait, in milliseconds; none by default. */
  waitMaxMs?: number;
  /** What the error message says then. */
  refusal?: string;
}

/** A token bucket: what was left of it at a time, negative while its owner waits. */
interface Bucket {
  left: number;
  atMs: number;
}

/** The bucket after an amount was taken from it; a bucket that is not there is full. */
function taken({ perSecond, atOnce }: Rate, bucket: Bucket | undefined, amount: number, nowMs: number): Bucket {
  const left = bucket ? Math.min(atOnce, bucket.left + ((nowMs - bucket.atMs) * perSecond) / 1_000) : atOnce;
  return { left: left - amount, atMs: nowMs };
}

/** Paces what would otherwise repeat at once, such as attempts that fail, by a token bucket for each owner. */
export function createPace(
  {
    waitMaxMs = Number.POSITIVE_INFINITY,
    refusal = "This account sends too much at once. Try again.",
    ...rate
  }: PaceSettings,
  { now, after } = passingTime,
): Pace {
  /** Those that used something lately, in the order of their last use. */
  const buckets = new Map<string, Bucket>();

  function forgetFull(atMs: number): void {
    for (const [ownerId, bucket] of buckets) {
      if (taken(rate, bucket, 0, atMs).left < rate.atOnce) return;
      buckets.delete(ownerId);
    }
  }

  return {
    take(ownerId, amount, gone) {
      const atMs = now();
      const bucket = taken(rate, buckets.get(ownerId), amount, atMs);
      const waitMs = (-(bucket.left + amount) * 1_000) / rate.perSecond;
      if (waitMs > waitMaxMs && !gone.aborted)
        throw new ServiceError("rate_limited", refusal, { retryAfterMs: Math.ceil(waitMs) });
      buckets.delete(ownerId);
      buckets.set(ownerId, bucket);
      forgetFull(atMs);
      if (waitMs <= 0 || gone.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = () => {
        callOff();
        gone.removeEventListener("abort", done);
        resolve();
      };
      const callOff = after(waitMs, done);
      gone.addEventListener("abort", done);
      return promise;
    },
  };
}
