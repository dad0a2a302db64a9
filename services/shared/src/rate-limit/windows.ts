import { emptyWindow, isLive, takeFrom, type Usage, WINDOW_MS, type Window } from "./window.ts";

export interface WindowsOptions {
  /**
   * Above this number the least recently used key starts over. Use separate windows for kinds of keys, or one could evict
   * the other.
   */
  keysMax: number;
  windowMs?: number;
  /** Milliseconds. */
  clock?: () => number;
}

/** Sliding windows by key, in this process: each call takes one request, if its key has any left. */
export function slidingWindows({
  keysMax,
  windowMs = WINDOW_MS,
  clock = Date.now,
}: WindowsOptions): (key: string, limit: number) => Usage {
  // Insertion order is the order of last use.
  const windows = new Map<string, Window>();

  return (key, limit) => {
    const nowMs = clock();
    const known = windows.get(key);
    if (known) windows.delete(key);
    else makeRoom(nowMs);
    const window = known ?? emptyWindow();
    windows.set(key, window);
    return takeFrom(window, nowMs, limit, windowMs);
  };

  function makeRoom(nowMs: number): void {
    for (const [key, window] of windows) {
      if (windows.size < keysMax && isLive(window, nowMs, windowMs)) return;
      windows.delete(key);
    }
  }
}
