import type { RateLimiter } from "./limiter.ts";

export interface FailoverOptions {
  primary: RateLimiter;
  /** Takes over with the whole limit; its own windows, so an outage hands each process a fresh one. */
  fallback: RateLimiter;
  logger: Record<"warn" | "info", (fields: object, message: string) => void>;
  /** Called for each request that the fallback decided. */
  onDegraded(): void;
  /** How long the primary is left alone after it failed. */
  retryDelayMs?: number;
  clock?: () => number;
}

/** Never throws for a lost primary: one failed take moves every request to the fallback until a trial take succeeds. */
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
      "rate limit: Redis is lost, each process limits by itself until it is back",
    );
  }

  // Beside the request, not before it: nobody waits for a Redis that may still be lost.
  async function tryPrimary(key: string, limit: number): Promise<void> {
    trialAtMs = Infinity;
    try {
      await primary.take(key, limit);
      degraded = false;
      logger.info({}, "rate limit: Redis is back, limits are shared again");
    } catch {
      trialAtMs = clock() + retryDelayMs;
    }
  }

  return { take };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
