/** Waits for a condition that another process or task brings about. @throws its last error after `withinMs`. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 25_000): Promise<T> {
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
