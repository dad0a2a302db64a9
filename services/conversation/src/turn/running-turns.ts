/** The turns of this process that have not ended, so that it does not stop under them. */
export interface RunningTurns {
  /** Fires when the process waits no longer: what was produced until then is stored. */
  cutOff: AbortSignal;
  /** Counts one in, until what it returns is called. */
  begin(): () => void;
  /** Cuts off what runs and waits until all of it is stored. */
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
    async stop() {
      cutter.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}
