import type { RateLimiter } from "./limiter.ts";
import { decisionOf, emptyWindow, isLive, takeFrom, type Window } from "./window.ts";

export interface MemoryLimiterOptions {
  /**
   * Above this number the least recently used key starts over. Use separate limiters for API keys and client addresses,
   * or one could evict the other.
   */
  keysMax?: number;
  clock?: () => number;
}

/** Limits within this process: the embedded default, and the fallback while Redis is unavailable. */
export function memoryLimiter({ keysMax = 50_000, clock = Date.now }: MemoryLimiterOptions = {}): RateLimiter {
  // Insertion order is the order of last use.
  const windows = new Map<string, Window>();

  return {
    async take(key, limit) {
      const nowMs = clock();
      const known = windows.get(key);
      if (known) windows.delete(key);
      else makeRoom(windows, keysMax, nowMs);
      const window = known ?? emptyWindow();
      windows.set(key, window);
      return decisionOf(limit, takeFrom(window, nowMs, limit));
    },
  };
}

function makeRoom(windows: Map<string, Window>, keysMax: number, nowMs: number): void {
  for (const [key, window] of windows) {
    if (windows.size < keysMax && isLive(window, nowMs)) return;
    windows.delete(key);
  }
}
