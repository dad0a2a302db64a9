export interface BackOff {
  firstMs: number;
  factor: number;
  maxMs: number;
  /** After a run of this length, the next end counts as the first. */
  resetAfterMs: number;
}

/** The delays before an ended process is restarted. */
export const RESTART: BackOff = { firstMs: 100, factor: 2, maxMs: 5_000, resetAfterMs: 30_000 };

/**
 * Milliseconds until the next start.
 * @param previousMs the pause before the run that just ended; null for the first run
 * @param upMs how long it ran
 */
export function nextPause(policy: BackOff, previousMs: number | null, upMs: number): number {
  if (previousMs === null || upMs >= policy.resetAfterMs) return policy.firstMs;
  return Math.min(previousMs * policy.factor, policy.maxMs);
}
