import { isOutOfTime, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import type { Logger } from "@parley/shared/log";
import { persistently } from "@parley/shared/persistently";

/** About 25 seconds: a restart of the database, and a replica taking its place. */
const DELAYS_MS: readonly number[] = [50, 100, 250, 500, ...new Array<number>(24).fill(1_000)];

/** Tries a write again while the database is away: what was said must not be lost to a restart. Any other failure is final. */
export function untilStored<T>(log: Logger, write: () => Promise<T>, delaysMs = DELAYS_MS): Promise<T> {
  return persistently(write, {
    delaysMs,
    goesOn(err, delayMs) {
      if (!mayPass(err)) return false;
      log.warn({ err, retry_in_ms: delayMs }, "a reply could not be stored yet");
      return true;
    },
  });
}

/**
 * Not when the pool is closed, as our own stop does last; of Postgres also rollbacks (40), lack of room (53), a standby (25006), and a
 * statement out of time: it waited for a lock, or Postgres stood still under it.
 */
function mayPass(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "CONNECTION_ENDED") return false;
  return isUnreachableDatabase(error) || isOutOfTime(error) || /^(40|53|25006)/.test(code);
}
