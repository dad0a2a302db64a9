/** Bytes that an owner may have worked on in one turn of the event loop: 80 words of a streamed reply take about 3 ms. */
const SLICE_BYTES = 16 * 1024;
/** Slices of all owners in one turn of the loop. */
const SLICES_MAX = 4;

/** Shares the time of the event loop among owners, by the bytes that are worked on for them. */
export interface LoopShares {
  /**
   * Hands over bytes, at once while the owner has part of its slice left, else slice by slice in later turns of the loop.
   * @param work on a slice, synchronously or in promises that settle by themselves; false drops what is left
   * @param isFirst whether a reader waits for these bytes before it has any: they go ahead of the owner's others
   * @returns whether all of it was handed over at once; otherwise `done` is called after the last slice
   */
  handOver(
    ownerId: string,
    bytes: Uint8Array,
    work: (slice: Uint8Array) => unknown,
    done: () => void,
    isFirst?: boolean,
  ): boolean;
}

const NOTHING = new Uint8Array();

interface Waiting {
  rest: Uint8Array;
  isFirst: boolean;
  work(slice: Uint8Array): unknown;
  done(): void;
}

/**
 * An owner whose models answer faster than a process can read would keep everybody else waiting for the loop. Owners take turns,
 * and what waits of one owner is worked on in the order in which it came, after what is first of its kind.
 * @param nextTurn runs a callback in the next turn of the loop
 */
export function loopShares(nextTurn: (run: () => void) => void = setImmediate): LoopShares {
  /** Bytes worked on in this turn of the loop. */
  const used = new Map<string, number>();
  const waiting = new Map<string, Waiting[]>();
  let isPlanned = false;

  function handOver(
    ownerId: string,
    bytes: Uint8Array,
    work: (slice: Uint8Array) => unknown,
    done: () => void,
    isFirst = false,
  ): boolean {
    const before = used.get(ownerId) ?? 0;
    plan();
    if (!waiting.has(ownerId) && before + bytes.length <= SLICE_BYTES) {
      used.set(ownerId, before + bytes.length);
      work(bytes);
      return true;
    }
    const queue = waiting.get(ownerId);
    const item = { rest: bytes, isFirst, work, done };
    if (queue) enqueue(queue, item);
    else waiting.set(ownerId, [item]);
    return false;
  }

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    nextTurn(turn);
  }

  function turn(): void {
    isPlanned = false;
    used.clear();
    for (const [ownerId, queue] of [...waiting].slice(0, SLICES_MAX)) {
      // To the end of the round.
      waiting.delete(ownerId);
      workOn(ownerId, queue);
      if (queue.length > 0) waiting.set(ownerId, queue);
    }
    if (waiting.size > 0) plan();
  }

  /** Works on one slice, of however many items. */
  function workOn(ownerId: string, queue: Waiting[]): void {
    let left = SLICE_BYTES;
    while (left > 0) {
      const [item] = queue;
      if (!item) break;
      const slice = item.rest.subarray(0, left);
      item.rest = item.rest.subarray(slice.length);
      if (item.work(slice) === false) item.rest = NOTHING;
      else left -= slice.length;
      if (item.rest.length > 0) break;
      queue.shift();
      item.done();
    }
    used.set(ownerId, SLICE_BYTES - left);
  }

  return { handOver };
}

/** The bodies of the items differ, so their order is free. */
function enqueue(queue: Waiting[], item: Waiting): void {
  const later = item.isFirst ? queue.findIndex(({ isFirst }) => !isFirst) : -1;
  if (later < 0) queue.push(item);
  else queue.splice(later, 0, item);
}

/** The number of owners who get a turn in one turn of the loop. */
const OWNERS_MAX = 4;

/** Lets owners take turns on the event loop with work that comes in pieces. */
export interface LoopTurns {
  /** Settles in a later turn of the loop, in which no other piece of the owner's is worked on. */
  next(ownerId: string): Promise<void>;
}

/** @param nextTurn runs a callback in the next turn of the loop */
export function loopTurns(nextTurn: (run: () => void) => void = setImmediate): LoopTurns {
  const waiting = new Map<string, (() => void)[]>();
  let isPlanned = false;

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    nextTurn(turn);
  }

  function turn(): void {
    isPlanned = false;
    for (const [ownerId, queue] of [...waiting].slice(0, OWNERS_MAX)) {
      // To the end of the round.
      waiting.delete(ownerId);
      queue.shift()?.();
      if (queue.length > 0) waiting.set(ownerId, queue);
    }
    if (waiting.size > 0) plan();
  }

  return {
    next: (ownerId) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const queue = waiting.get(ownerId);
      if (queue) queue.push(resolve);
      else waiting.set(ownerId, [resolve]);
      plan();
      return promise;
    },
  };
}
