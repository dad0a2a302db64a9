import { ServiceError } from "../errors.ts";
import { type Company, company as ownCompany } from "./company.ts";
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
  /** Counts like `take`, for an amount that is only expected. @throws ServiceError like `take` */
  reserve(ownerId: string, expected: number, gone: AbortSignal): Reserved;
  /** Counts what the owner used without waiting. */
  count(ownerId: string, amount: number): void;
}

/** An amount that an owner is expected to use. */
export interface Reserved {
  /** Ends when the owner may use it; null if it may at once. */
  due: Promise<void> | null;
  /** Counts what the owner has used instead, with the weight of what was expected. Call it once. */
  settle(used: number): void;
}

export interface PaceSettings {
  perSecond: number;
  /** What an owner that used nothing for a while may use at once. */
  atOnce: number;
  /** How many times an amount counts while the process works for others too; once by default. */
  besideOthers?: number;
  /** The longest wait, in milliseconds; none by default. */
  waitMaxMs?: number;
  /** What an owner owes at most, whatever it has used; no limit by default. */
  debtMax?: number;
  /** What the error message says then. */
  refusal?: string;
}

interface Owner {
  /** What was left at that time; negative while the owner waits. */
  left: number;
  atMs: number;
}

/**
 * Bounds the CPU that an owner's long texts take from others, from end to end. Sharing the event loop is not enough: the garbage
 * of long texts is collected in everybody's time, and the owner's next piece of work is always ready.
 */
export function createPace(
  {
    perSecond,
    atOnce,
    besideOthers = 1,
    waitMaxMs = Number.POSITIVE_INFINITY,
    debtMax = Number.POSITIVE_INFINITY,
    refusal = "This account's requests are too large together, try again",
  }: PaceSettings,
  { nowMs, after } = passingTime,
  company: Company = ownCompany,
): Pace {
  /** Those that used something lately, in the order of their last use. */
  const owners = new Map<string, Owner>();

  function leftOf(owner: Owner | undefined, now: number): number {
    if (!owner) return atOnce;
    return Math.min(atOnce, owner.left + ((now - owner.atMs) * perSecond) / 1_000);
  }

  function forgetOldest(now: number): void {
    for (const [ownerId, owner] of owners) {
      if (leftOf(owner, now) < atOnce) return;
      owners.delete(ownerId);
    }
  }

  function weightOf(ownerId: string): number {
    if (besideOthers === 1) return 1;
    company.enter(ownerId);
    return company.isAlone(ownerId) ? 1 : besideOthers;
  }

  /** @returns what was left before */
  function count(ownerId: string, amount: number): number {
    const now = nowMs();
    const left = leftOf(owners.get(ownerId), now);
    owners.delete(ownerId);
    owners.set(ownerId, { left: Math.max(-debtMax, Math.min(atOnce, left - amount)), atMs: now });
    forgetOldest(now);
    return left;
  }

  function take(ownerId: string, amount: number, gone: AbortSignal): Promise<void> | null {
    const left = count(ownerId, amount);
    if (left >= 0 || gone.aborted) return null;
    const waitMs = (-left * 1_000) / perSecond;
    if (waitMs > waitMaxMs) {
      count(ownerId, -amount);
      throw new ServiceError("rate_limited", refusal, { retryAfterMs: Math.ceil(waitMs) });
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      callOff();
      gone.removeEventListener("abort", done);
      resolve();
    };
    const callOff = after(waitMs, done);
    gone.addEventListener("abort", done);
    return promise;
  }

  return {
    count: (ownerId, amount) => void count(ownerId, amount * weightOf(ownerId)),
    take: (ownerId, amount, gone) => take(ownerId, amount * weightOf(ownerId), gone),
    reserve(ownerId, expected, gone) {
      // Others may come or leave while it is used.
      const weight = weightOf(ownerId);
      const due = take(ownerId, expected * weight, gone);
      return { due, settle: (used) => void count(ownerId, (used - expected) * weight) };
    },
  };
}
