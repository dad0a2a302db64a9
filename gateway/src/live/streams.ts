import { ServiceError } from "@parley/shared/errors";

/** The streams of events that never end by themselves. */
export interface EventStreams {
  /**
   * @param countedAs whose streams are counted together
   * @param end ends the stream when the gateway stops
   * @returns forgets it
   * @throws ServiceError rate_limited when the owner has as many as it may, unavailable when the gateway stops
   */
  enter(countedAs: string, end: () => void): () => void;
  /** Ends them: their clients connect to another gateway. */
  endAll(): void;
}

/** Of one owner in this process. */
const OF_OWNER_MAX = 1_000;

export function eventStreams(): EventStreams {
  const owners = new Map<string, Set<() => void>>();
  let isOver = false;
  return {
    enter(countedAs, end) {
      if (isOver) throw new ServiceError("unavailable", "The gateway is stopping. Try again.");
      const open = owners.get(countedAs) ?? new Set();
      if (open.size >= OF_OWNER_MAX)
        throw new ServiceError("rate_limited", `This account watches ${OF_OWNER_MAX} streams of events: close some`);
      owners.set(countedAs, open.add(end));
      return () => {
        open.delete(end);
        if (open.size === 0) owners.delete(countedAs);
      };
    },
    endAll() {
      isOver = true;
      for (const open of owners.values()) for (const end of open) end();
    },
  };
}
