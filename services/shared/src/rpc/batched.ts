import DataLoader from "dataloader";
import { refuseInTransaction } from "../db/open-transactions.ts";

/** A commit may take this long, a lock longer. */
const WAIT_MAX_MS = 20;

export interface BatchOptions<K> {
  /** How long a batch waits for the previous one, so that one that hangs does not block everybody; longer in tests. */
  waitMaxMs?: number;
  /** Shared with other batches whose calls would only slow each other down: one call of all of them is in progress at a time. */
  lane?: Lane;
  /** For reads: keys with the same id share one key of the call, and all callers get the same value. */
  idOf?: (key: K) => string;
}

interface Lane {
  /** Settles with the most recent call; null once it has settled. */
  underWay: Promise<void> | null;
}

export function createLane(): Lane {
  return { underWay: null };
}

/**
 * Reads one key at a time through a call that reads many. Keys requested in one tick share one call, and keys requested
 * while a call is running share the next one. So a lone read never waits, and under load the waiting reads share a
 * call's cost.
 * @param readMany returns, in the order of the keys, each one's value or its own error
 * @param keysMax the most keys in one call
 */
export function batched<K, V>(
  readMany: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
  keysMax: number,
  { waitMaxMs = WAIT_MAX_MS, lane, idOf }: BatchOptions<K> = {},
): (key: K) => Promise<V> {
  /** Settles with the most recent call; null once it has settled. */
  let underWay: Promise<void> | null = null;

  async function call(keys: readonly K[]): Promise<readonly (V | Error)[]> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const leaveLane = enterLane();
    underWay = promise;
    // Only keys that have not been sent are remembered.
    loader.clearAll();
    try {
      return await readMany(keys);
    } finally {
      leaveLane();
      if (underWay === promise) underWay = null;
      resolve();
    }
  }

  function enterLane(): () => void {
    if (!lane) return () => {};
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.underWay = promise;
    return () => {
      if (lane.underWay === promise) lane.underWay = null;
      resolve();
    };
  }

  function before(): Promise<void> | null {
    return underWay ?? lane?.underWay ?? null;
  }

  function schedule(leave: () => void): void {
    if (before()) leaveNext(leave);
    // Until then, another batch may have entered the lane.
    else process.nextTick(() => (lane ? leaveNext(leave) : leave()));
  }

  /** Leaves after the call in progress, if there is one: of several batches, the one that has waited longest. */
  function leaveNext(leave: () => void): void {
    let hasLeft = false;
    let timer: Timer | undefined;
    const go = () => {
      if (hasLeft) return;
      hasLeft = true;
      clearTimeout(timer);
      leave();
    };
    const next = () => {
      if (hasLeft) return;
      const call = before();
      if (!call) return go();
      timer ??= setTimeout(go, waitMaxMs);
      call.then(next);
    };
    next();
  }

  const loader = new DataLoader<K, V, unknown>(call, {
    cache: idOf !== undefined,
    ...(idOf && { cacheKeyFn: idOf }),
    maxBatchSize: keysMax,
    batchScheduleFn: schedule,
  });
  return (key) => {
    // The call is made in the context of its first key, which says nothing about the others.
    refuseInTransaction("A batched read");
    return loader.load(key);
  };
}
