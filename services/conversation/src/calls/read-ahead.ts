export interface Bounds<T> {
  itemsMax: number;
  sizeMax: number;
  sizeOf(item: T): number;
}

/**
 * Yields items in batches: a lone item is passed on at once; items that arrive while the previous batch is being
 * processed are passed on together. Reads at most one batch and one item ahead, so a fast source is held back. Ends
 * when the source ends or `stopping` fires; rethrows the source's error after the items before it.
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
    // It may reject before anyone awaits it; the next caller that awaits it still gets the error.
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
    // Not awaited: it settles only after the pending item, which may never arrive.
    iterator.return?.().catch(() => {});
  }
}

const NOTHING = Symbol("nothing");
const NEVER = new AbortController().signal;

/** Resolves after all items that have already arrived. */
function nothingYet(): Promise<typeof NOTHING> {
  return new Promise((resolve) => setImmediate(resolve, NOTHING));
}
