export interface Bounds<T> {
  itemsMax: number;
  sizeMax: number;
  sizeOf(item: T): number;
}

/**
 * What has come by the time it can be used, in one: a lone item waits for nothing, and many that come while the ones before them
 * are being used share one use. No more is read than one batch and an item beyond it, so that a quick source has to wait.
 * Ends where the source ends, or when `stopping` fires; fails as the source does, after what came before.
 */
export async function* readAhead<T>(
  source: AsyncIterable<T>,
  { itemsMax, sizeMax, sizeOf }: Bounds<T>,
  stopping = NEVER,
): AsyncGenerator<T[]> {
  const iterator = source[Symbol.asyncIterator]();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<typeof NOTHING>();
  const onStop = () => stop(NOTHING);
  stopping.addEventListener("abort", onStop, { once: true });
  if (stopping.aborted) onStop();
  const pull = () => {
    const next = iterator.next();
    // It may fail while nobody waits for it; whoever does next is told.
    next.catch(() => {});
    return next;
  };
  try {
    for (let next = pull(); ; ) {
      const first = await Promise.race([next, stopped]);
      if (first === NOTHING || first.done) return;
      const batch = [first.value];
      let size = sizeOf(first.value);
      next = pull();
      while (batch.length < itemsMax && size < sizeMax) {
        const more = await Promise.race([next, nothingYet()]).catch((): typeof NOTHING => NOTHING);
        if (more === NOTHING || more.done) break;
        batch.push(more.value);
        size += sizeOf(more.value);
        next = pull();
      }
      yield batch;
    }
  } finally {
    stopping.removeEventListener("abort", onStop);
    // Not awaited: it answers only after the item that is being waited for, which may never come.
    iterator.return?.().catch(() => {});
  }
}

const NOTHING = Symbol("nothing");
const NEVER = new AbortController().signal;

/** Settles once everything that has arrived already could be seen. */
function nothingYet(): Promise<typeof NOTHING> {
  return new Promise((resolve) => setImmediate(resolve, NOTHING));
}
