import { slidingWindows, type WindowsOptions } from "@parley/shared/rate-limit/windows";
import { decisionOf } from "./decision.ts";
import type { RateLimiter } from "./limiter.ts";

const KEYS_MAX = 50_000;

/** Limits within this process: the embedded default, and the fallback while Redis is unavailable. */
export function memoryLimiter({
  keysMax = KEYS_MAX,
  ...options
}: Partial<Omit<WindowsOptions, "windowMs">> = {}): RateLimiter {
  const take = slidingWindows({ keysMax, ...options });
  return { take: async (key, limit) => decisionOf(limit, take(key, limit)) };
}
