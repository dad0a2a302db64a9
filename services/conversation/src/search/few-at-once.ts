import { ServiceError } from "@parley/shared/errors";
import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";

/** Does a search when its turn comes. @throws ServiceError rate_limited when too many of the owner's wait already */
export type FewAtOnce = <T>(ownerId: string, gone: AbortSignal, search: () => Promise<T>) => Promise<T>;

/** Of one owner by one process: the slowest texts to search for take seconds of a core, and others' reads the same connections. */
const AT_ONCE = 2;
const WAITING_MAX = 20;

/** Of owners that searched last; more than search at a time. */
const OWNERS_MAX = 1_000;

export function fewAtOnce(): FewAtOnce {
  const limits = new LRUCache<string, LimitFunction>({ max: OWNERS_MAX });
  return async (ownerId, gone, search) => {
    const limit = limits.get(ownerId) ?? pLimit(AT_ONCE);
    limits.set(ownerId, limit);
    if (limit.pendingCount >= WAITING_MAX) {
      throw new ServiceError("rate_limited", "Too many searches of this account are under way, try again", {
        retryAfterMs: 1_000,
      });
    }
    return limit(() => {
      // Nobody waits for it any more.
      gone.throwIfAborted();
      return search();
    });
  };
}
