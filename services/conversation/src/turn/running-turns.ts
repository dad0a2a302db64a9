/** With as many turns in progress, words after the first wait up to 10 ms for others. Fewer turns have few words to read or send. */
export const GATHER_FROM_TURNS = 8;

/**
 * With as many turns of one owner, its words come faster than they are read one by one. A word costs four processes less when it
 * travels with another, and what is saved makes all words earlier.
 */
const CROWD_FROM_TURNS = 128;

/**
 * @param turns in progress
 * @param ofOwner how many of them are the owner's
 * @returns how many milliseconds the model's next words may wait for others
 */
export function wordsRestMs(turns: number, ofOwner: number): number {
  if (turns < GATHER_FROM_TURNS) return 0;
  return ofOwner < CROWD_FROM_TURNS ? 10 : 40;
}

/** The turns in progress in this process, which waits for them before it stops. */
export interface RunningTurns {
  /** Fires when the process stops waiting. Turns then store what they have. */
  cutOff: AbortSignal;
  /** Registers a turn. @returns a function that ends it */
  begin(ownerId: string): () => void;
  /** How many are in progress. */
  count(): number;
  /** How many of an owner's are. */
  countOf(ownerId: string): number;
  /** Cuts the turns off and waits until they are stored. */
  stop(): Promise<void>;
}

export function runningTurns(): RunningTurns {
  const cutter = new AbortController();
  const running = new Set<Promise<void>>();
  const byOwner = new Map<string, number>();

  function leave(ownerId: string): void {
    const left = (byOwner.get(ownerId) ?? 0) - 1;
    if (left > 0) byOwner.set(ownerId, left);
    else byOwner.delete(ownerId);
  }

  return {
    cutOff: cutter.signal,
    begin(ownerId) {
      byOwner.set(ownerId, (byOwner.get(ownerId) ?? 0) + 1);
      const { promise, resolve } = Promise.withResolvers<void>();
      running.add(promise);
      return () => {
        if (running.delete(promise)) leave(ownerId);
        resolve();
      };
    },
    count: () => running.size,
    countOf: (ownerId) => byOwner.get(ownerId) ?? 0,
    async stop() {
      cutter.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
