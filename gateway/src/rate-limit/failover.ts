import type { RateLimiter } from "./limiter.ts";

interface FailoverOptions {
  primary: RateLimiter;
  /** Takes over with the whole limit and fresh windows in each process. */
  fallback: RateLimiter;
  logger: Record<"warn" | "info", (fields: object, message: string) => void>;
  /** Called for each request that the fallback decides. */
  onDegraded(): void;
  /** How long to wait before retrying a failed primary. */
  retryDelayMs?: number;
  clock?: () => number;
}

/**
 * Never throws when the primary is unavailable: one failed take moves every request to the fallback until a trial take
 * succeeds.
 */
export function failoverLimiter(options: FailoverOptions): RateLimiter {
  const { primary, fallback, logger, onDegraded, retryDelayMs = 1_000, clock = () => performance.now() } = options;
  let degraded = false;
  let trialAtMs = 0;

  async function take(key: string, limit: number) {
    if (!degraded) {
      try {
        return await primary.take(key, limit);
      } catch (error) {
        degrade(error);
      }
    } else if (clock() >= trialAtMs) {
      void tryPrimary(key, limit);
    }
    onDegraded();
    return fallback.take(key, limit);
  }

  function degrade(error: unknown): void {
    if (degraded) return;
    degraded = true;
    trialAtMs = clock() + retryDelayMs;
    logger.warn(
      { reason: reasonOf(error) },
      "rate limit: Redis is unavailable, so each process limits on its own until it is back",
    );
  }

  // Runs alongside the request, so that nobody waits for a Redis that may still be down.
  async function tryPrimary(key: string, limit: number): Promise<void> {
    trialAtMs = Infinity;
    try {
      await primary.take(key, limit);
      degraded = false;
      logger.info({}, "rate limit: Redis is back, and limits are shared again");
    } catch {
      trialAtMs = clock() + retryDelayMs;
    }
  }

  return { take };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
