import fc from "fast-check";
import type { Decision } from "../src/rate-limit/limiter.ts";

export const START_MS = 1_800_000_000_000;
export const WINDOW_MS = 60_000;

interface Bounds {
  limitMin?: number;
  limitMax: number;
  burstMax: number;
}

/** Bursts with gaps between them, from single milliseconds to longer than the window. */
export function traffic({ limitMin = 1, limitMax, burstMax }: Bounds) {
  const gapMs = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 61_000 }));
  const burst = fc.record({ gapMs, size: fc.integer({ min: 1, max: burstMax }) });
  return fc
    .record({
      limit: fc.integer({ min: limitMin, max: limitMax }),
      bursts: fc.array(burst, { minLength: 1, maxLength: 30 }),
    })
    .map(({ limit, bursts }) => {
      let atMs = START_MS;
      const arrivals = bursts.flatMap(({ gapMs, size }) => {
        atMs += gapMs;
        return repeat(size, atMs);
      });
      return { limit, arrivals };
    });
}

/** The oracle: keeps every allowed request and counts those of the last 60 s. */
export function exactLog(arrivals: number[], limit: number): Decision[] {
  const allowed: number[] = [];
  return arrivals.map((atMs) => {
    const live = allowed.filter((timeMs) => timeMs > atMs - WINDOW_MS);
    const isAllowed = live.length < limit;
    if (isAllowed) allowed.push(atMs);
    const oldestMs = isAllowed ? atMs - WINDOW_MS : (live[0] ?? 0);
    return {
      allowed: isAllowed,
      limit,
      remaining: limit - live.length - (isAllowed ? 1 : 0),
      resetAtSeconds: Math.ceil(((allowed.at(-1) ?? 0) + WINDOW_MS) / 1000),
      retryAfterSeconds: Math.ceil((oldestMs + WINDOW_MS - atMs) / 1000),
    };
  });
}

export function repeat<T>(times: number, value: T): T[] {
  return Array.from({ length: times }, () => value);
}
