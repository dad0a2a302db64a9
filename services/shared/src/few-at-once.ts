import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";
import { ServiceError } from "./errors.ts";

/** Runs a read when its turn comes. @throws ServiceError rate_limited when too many of the owner's reads are waiting */
export type FewAtOnce = <T>(ownerId: string, gone: AbortSignal, read: () => Promise<T>) => Promise<T>;

export interface FewAtOnceSettings {
  /** What is read, in the plural, for the error message. */
  what: string;
  /** Concurrent reads per owner and process. */
  atOnce: number;
  waitingMax: number;
}

/** How many recent owners to remember; more than read at a time. */
const OWNERS_MAX = 1_000;

export function fewAtOnce({ what, atOnce, waitingMax }: FewAtOnceSettings): FewAtOnce {
  const limits = new LRUCache<string, LimitFunction>({ max: OWNERS_MAX });
  return async (ownerId, gone, read) => {
    const limit = limits.get(ownerId) ?? pLimit(atOnce);
    limits.set(ownerId, limit);
    if (limit.pendingCount >= waitingMax) {
      throw new ServiceError("rate_limited", `Too many ${what} of this account are under way, try again`, {
        retryAfterMs: 1_000,
      });
    }
    return limit(() => {
      // Skips the read when its caller has left.
      gone.throwIfAborted();
      return read();
    });
  };
}
