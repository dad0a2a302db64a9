/** Below a test's time limit, and far longer than anything awaited takes on a slow machine. */
const WITHIN_MS = 60_000;
/** A check costs CPU time, mostly in processes that other tests wait for too, so checks become rarer the longer it waits. */
const PAUSE_MIN_MS = 20;
const PAUSE_MAX_MS = 100;
/** The pause between checks, as a share of the time waited so far. */
const PAUSE_SHARE = 0.1;

/** Waits until another process or task has made a condition true. @throws its last error after `withinMs` */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const start = Date.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const waitedMs = Date.now() - start;
      if (waitedMs > withinMs) throw error;
      await Bun.sleep(Math.min(Math.max(waitedMs * PAUSE_SHARE, PAUSE_MIN_MS), PAUSE_MAX_MS));
    }
  }
}
