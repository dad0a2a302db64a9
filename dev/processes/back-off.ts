export interface BackOff {
  firstMs: number;
  factor: number;
  maxMs: number;
  /** After this long up, the next end counts as the first. */
  resetAfterMs: number;
}

/** How a process that ended is started again. */
export const RESTART: BackOff = { firstMs: 100, factor: 2, maxMs: 5_000, resetAfterMs: 30_000 };

/**
 * Milliseconds until the next start.
 * @param previousMs the pause before the start that has now ended; null when it was the first
 * @param upMs how long it ran
 */
export function nextPause(policy: BackOff, previousMs: number | null, upMs: number): number {
  if (previousMs === null || upMs >= policy.resetAfterMs) return policy.firstMs;
  return Math.min(previousMs * policy.factor, policy.maxMs);
}
