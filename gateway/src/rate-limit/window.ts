import type { Decision } from "./limiter.ts";

export const WINDOW_MS = 60_000;

/** Up to this limit each request keeps its own millisecond; above it requests share buckets, which bounds the size of a window. */
export const EXACT_LIMIT_MAX = 1_000;

export const BUCKET_MS = WINDOW_MS / EXACT_LIMIT_MAX;

/** The allowed requests: `counts[i]` of them count until `timesMs[i]` (ascending) is 60 s old; `used` is their sum. */
export interface Window {
  timesMs: number[];
  counts: number[];
  used: number;
}

/** `used` includes this request when it is allowed; `waitMs` is then 0, otherwise the time until a request is allowed. */
export interface Usage {
  used: number;
  waitMs: number;
  newestMs: number;
}

export function emptyWindow(): Window {
  return { timesMs: [], counts: [], used: 0 };
}

/** Takes one request from `window` in place. The conformance suite checks that `take-script.ts` follows the same rule. */
export function takeFrom(window: Window, nowMs: number, limit: number): Usage {
  forgetOld(window, nowMs);
  const waitMs = waitFor(window, nowMs, limit);
  if (waitMs === 0) record(window, nowMs, limit);
  return { used: window.used, waitMs, newestMs: window.timesMs.at(-1) ?? nowMs };
}

/** Whether any request in the window still counts. */
export function isLive(window: Window, nowMs: number): boolean {
  const newestMs = window.timesMs.at(-1) ?? -Infinity;
  // A time more than a window ahead means that the clock was set back; kept, it would lock the client out until the
  // clock catches up.
  return newestMs > nowMs - WINDOW_MS && newestMs <= nowMs + WINDOW_MS;
}

/** Converts a take to the decision for the client. */
export function decisionOf(limit: number, { used, waitMs, newestMs }: Usage): Decision {
  return {
    allowed: waitMs === 0,
    limit,
    remaining: Math.max(0, limit - used),
    resetAtSeconds: Math.ceil((newestMs + WINDOW_MS) / 1000),
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  };
}

function forgetOld(window: Window, nowMs: number): void {
  const gone = isLive(window, nowMs)
    ? window.timesMs.findIndex((timeMs) => timeMs > nowMs - WINDOW_MS)
    : window.timesMs.length;
  if (gone === 0) return;
  window.timesMs.splice(0, gone);
  for (const count of window.counts.splice(0, gone)) window.used -= count;
}

function waitFor(window: Window, nowMs: number, limit: number): number {
  if (window.used < limit) return 0;
  // More than one must expire only after the limit was lowered.
  let left = Math.min(window.used, window.used - limit + 1);
  for (const [i, timeMs] of window.timesMs.entries()) {
    left -= window.counts[i] ?? 0;
    if (left <= 0) return timeMs + WINDOW_MS - nowMs;
  }
  return WINDOW_MS;
}

function record(window: Window, nowMs: number, limit: number): void {
  const timeMs = limit > EXACT_LIMIT_MAX ? nowMs - (nowMs % BUCKET_MS) + BUCKET_MS - 1 : nowMs;
  const last = window.timesMs.length - 1;
  if (timeMs <= (window.timesMs[last] ?? -Infinity)) {
    window.counts[last] = (window.counts[last] ?? 0) + 1;
  } else {
    window.timesMs.push(timeMs);
    window.counts.push(1);
  }
  window.used += 1;
}
