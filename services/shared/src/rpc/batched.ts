import DataLoader from "dataloader";
import { refuseInTransaction } from "../db/open-transactions.ts";

/** For a read, which others beside it hold up in nothing. */
const WAIT_MAX_MS = 10;

export interface BatchOptions<K> {
  /** How long a batch waits for the one before it: one that hangs must not hold up everybody. */
  waitMaxMs?: number;
  /** For reads: keys of the same id are one key of a call, and all who asked get the same value. */
  idOf?: (key: K) => string;
}

/**
 * Reads one at a time by a call that reads many. What is asked for in one tick is one call, and what is asked for while a call
 * is under way is the next one: a lone read waits for nothing, and under load a call's cost is shared by all who wait.
 * @param readMany in the order of the keys, for each its value or the error it alone gets
 * @param keysMax of one call
 */
export function batched<K, V>(
  readMany: (keys: readonly K[]) => Promise<readonly (V | Error)[]>,
  keysMax: number,
  { waitMaxMs = WAIT_MAX_MS, idOf }: BatchOptions<K> = {},
): (key: K) => Promise<V> {
  /** Settles with the call that left last; null when it has. */
  let underWay: Promise<void> | null = null;

  async function call(keys: readonly K[]): Promise<readonly (V | Error)[]> {
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay = promise;
    // What is remembered is only what has not left yet.
    loader.clearAll();
    try {
      return await readMany(keys);
    } finally {
      if (underWay === promise) underWay = null;
      resolve();
    }
  }

  function schedule(leave: () => void): void {
    if (!underWay) {
      process.nextTick(leave);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, waitMaxMs);
    underWay.then(resolve);
    promise.then(() => {
      clearTimeout(timer);
      leave();
    });
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
