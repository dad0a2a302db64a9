/** Calls that begin in one turn of the event loop. */
const BEGIN_MAX = 16;

/**
 * Asks to begin an owner's call on the event loop.
 * @returns null when it may begin at once; otherwise a promise that settles when its turn has come
 */
type EnterLoop = (ownerId: string) => Promise<void> | null;

/**
 * Lets calls that arrive together begin a few in each turn of the event loop, one owner after the other. Otherwise everybody's
 * work would wait until the last call of one owner's burst has begun.
 * @param nextTurn runs a callback in the next turn of the loop
 */
export function loopEntry(nextTurn: (run: () => void) => void = setImmediate): EnterLoop {
  /** The calls that wait, by owner, in the order of the owners' turns. */
  const waiting = new Map<string, (() => void)[]>();
  let begun = 0;
  let isPlanned = false;

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    nextTurn(turn);
  }

  function turn(): void {
    isPlanned = false;
    begun = 0;
    for (const [ownerId, calls] of waiting) {
      if (begun === BEGIN_MAX) break;
      begun++;
      calls.shift()?.();
      // Iterating over a map also visits entries added in the meantime, at the end.
      waiting.delete(ownerId);
      if (calls.length > 0) waiting.set(ownerId, calls);
    }
    if (begun > 0) plan();
  }

  return (ownerId) => {
    plan();
    if (waiting.size === 0 && begun < BEGIN_MAX) {
      begun++;
      return null;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const calls = waiting.get(ownerId);
    if (calls) calls.push(resolve);
    else waiting.set(ownerId, [resolve]);
    return promise;
  };
}

/** The entry to this process's event loop. */
export const enterLoop: EnterLoop = loopEntry();
