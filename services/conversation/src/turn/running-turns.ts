/** With as many turns in progress, words after the first wait up to 10 ms for others. Fewer turns have few words to read or send. */
export const GATHER_FROM_TURNS = 8;

/** The turns in progress in this process, which waits for them before it stops. */
export interface RunningTurns {
  /** Fires when the process stops waiting. Turns then store what they have. */
  cutOff: AbortSignal;
  /** Registers a turn. @returns a function that ends it */
  begin(): () => void;
  /** How many are in progress. */
  count(): number;
  /** Cuts the turns off and waits until they are stored. */
  stop(): Promise<void>;
}

export function runningTurns(): RunningTurns {
  const cutter = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    cutOff: cutter.signal,
    begin() {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.add(promise);
      return () => {
        running.delete(promise);
        resolve();
      };
    },
    count: () => running.size,
    async stop() {
      cutter.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
