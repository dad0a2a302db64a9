import type { Logger } from "@parley/shared/log";

const DELAYS_MS = [50, 100, 250, 500, 1_000, 2_000, 4_000, 8_000, 8_000] as const;

/** Tries a write again while the database is away, for about 24 seconds: what was said must not be lost to a restart. */
export async function persistently<T>(log: Logger, write: () => Promise<T>): Promise<T> {
  for (const delayMs of DELAYS_MS) {
    try {
      return await write();
    } catch (err) {
      log.warn({ err, retry_in_ms: delayMs }, "a reply could not be stored");
      await Bun.sleep(delayMs);
    }
  }
  return write();
}
