interface Repeated {
  /** Does the work between its times too, unless it is still running. */
  now(): void;
  /** Resolves when the work has ended. */
  stop(): Promise<void>;
}

/** Does a process's work every `everyMs` milliseconds, unless it is still running. @param onError is told each failure */
export function repeat(work: () => Promise<void>, everyMs: number, onError: (err: unknown) => void): Repeated {
  let running: Promise<void> | null = null;
  let stopped = false;
  const now = () => {
    if (stopped) return;
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(now, everyMs).unref();
  return {
    now,
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
