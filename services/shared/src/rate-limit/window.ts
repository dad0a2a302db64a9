/** The usual length of a window. */
export const WINDOW_MS = 60_000;

/** Up to this limit each request keeps its own millisecond; above it requests share buckets, which bounds the size of a window. */
export const EXACT_LIMIT_MAX = 1_000;

export const BUCKET_MS = WINDOW_MS / EXACT_LIMIT_MAX;

/** The allowed requests: `counts[i]` of them count until `timesMs[i]` (ascending) is a window old; `used` is their sum. */
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

/** Takes one request from `window` in place. The gateway's conformance suite checks that its script for Redis follows the same rule. */
export function takeFrom(window: Window, nowMs: number, limit: number, windowMs = WINDOW_MS): Usage {
  forgetOld(window, nowMs, windowMs);
  const waitMs = waitFor(window, nowMs, limit, windowMs);
  if (waitMs === 0) record(window, nowMs, limit);
  return { used: window.used, waitMs, newestMs: window.timesMs.at(-1) ?? nowMs };
}

/** Whether any request in the window still counts. */
export function isLive(window: Window, nowMs: number, windowMs = WINDOW_MS): boolean {
  const newestMs = window.timesMs.at(-1) ?? -Infinity;
  // A time more than a window ahead means that the clock was set back; kept, it would lock the client out until the
  // clock catches up.
  return newestMs > nowMs - windowMs && newestMs <= nowMs + windowMs;
}

function forgetOld(window: Window, nowMs: number, windowMs: number): void {
  const gone = isLive(window, nowMs, windowMs)
    ? window.timesMs.findIndex((timeMs) => timeMs > nowMs - windowMs)
    : window.timesMs.length;
  if (gone === 0) return;
  window.timesMs.splice(0, gone);
  for (const count of window.counts.splice(0, gone)) window.used -= count;
}

function waitFor(window: Window, nowMs: number, limit: number, windowMs: number): number {
  if (window.used < limit) return 0;
  // More than one must expire only after the limit was lowered.
  let left = Math.min(window.used, window.used - limit + 1);
  for (const [i, timeMs] of window.timesMs.entries()) {
    left -= window.counts[i] ?? 0;
    if (left <= 0) return timeMs + windowMs - nowMs;
  }
  return windowMs;
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
