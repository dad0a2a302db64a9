import type { ModelFailure } from "./failure.ts";

const ATTEMPTS_MAX = 3;
/** Each further wait is so many times the one before. */
const GROWTH = 4;
/** By how much, either way, so that many who failed together do not come back together. */
const JITTER = 0.2;
/** A provider that asks for more time than this is left for the next model, where there is one. */
const NEXT_MODEL_RATHER_MS = 2_000;

export interface RetryState {
  /** Attempts with this model, all failed. */
  failed: number;
  /** What is left of this model's time. */
  leftMs: number;
  hasNext: boolean;
}

/**
 * How long to wait, in milliseconds, before a model is asked again; null when it is not to be asked again. What the provider says in
 * Retry-After is kept to.
 * @param firstMs the first wait
 * @param random 0 to 1
 */
export function retryDelayMs(
  { isRetryable, retryAfterMs = 0 }: Pick<ModelFailure, "isRetryable" | "retryAfterMs">,
  { failed, leftMs, hasNext }: RetryState,
  firstMs: number,
  random: number,
): number | null {
  if (!isRetryable || failed >= ATTEMPTS_MAX) return null;
  if (hasNext && retryAfterMs > NEXT_MODEL_RATHER_MS) return null;
  const backOffMs = firstMs * GROWTH ** (failed - 1) * (1 + JITTER * (2 * random - 1));
  const delayMs = Math.max(backOffMs, retryAfterMs);
  return delayMs < leftMs ? delayMs : null;
}
