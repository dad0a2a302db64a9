import { isOutOfTime, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import type { Logger } from "@parley/shared/log";
import { persistently } from "@parley/shared/retry/persistently";

/** About 25 seconds in all, enough for the database to restart or to fail over. */
const DELAYS_MS: readonly number[] = [50, 100, 250, 500, ...new Array<number>(24).fill(1_000)];

/** Retries a write while the database is down, so that a restart loses no reply and no result. Any other failure is final. */
export function untilStored<T>(log: Logger, write: () => Promise<T>, delaysMs = DELAYS_MS): Promise<T> {
  return persistently(write, {
    delaysMs,
    goesOn(err, delayMs) {
      if (!mayPass(err)) return false;
      log.warn({ err, retry_in_ms: delayMs }, "what a turn brought could not be stored yet");
      return true;
    },
  });
}

/**
 * Whether a retry may help: the database is unreachable, rolled back (40) or out of resources (53), or the statement timed out.
 * False for a closed pool, which this process closes last when it stops.
 */
function mayPass(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "CONNECTION_ENDED") return false;
  return isUnreachableDatabase(error) || isOutOfTime(error) || /^(40|53)/.test(code);
}
