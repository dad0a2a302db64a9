import { ServiceError } from "@parley/shared/errors";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import type { Search } from "./search/search.ts";

/** Searches as `Search` does, a few at once of each owner. @throws ServiceError rate_limited when too many of an owner wait */
export type Searching = Search["search"];

/** Of one owner in a process. More wait for as long as they have. */
const AT_ONCE = 8;
const WAITING_MAX = 64;

export function fewSearches({ search }: Pick<Search, "search">): Searching {
  const few = fewAtOnce({ what: "searches", atOnce: AT_ONCE, waitingMax: WAITING_MAX });
  return async (wanted) => {
    const { ownerId, withinMs, signal } = wanted;
    const endsAt = performance.now() + withinMs;
    const late = AbortSignal.timeout(Math.max(1, withinMs));
    const inTime = few(ownerId, AbortSignal.any([signal, late]), () =>
      search({ ...wanted, withinMs: endsAt - performance.now() }),
    );
    return inTime.catch((error: unknown) => {
      if (error === late.reason) throw new ServiceError("deadline", "The search took too long. Try again.");
      throw error;
    });
  };
}
