/** Below a test's time limit, and far longer than anything awaited takes on a slow machine. */
const WITHIN_MS = 60_000;

/** Waits for a condition that another process or task brings about. @throws its last error after `withinMs` */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = WITHIN_MS): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await Bun.sleep(20);
    }
  }
}
