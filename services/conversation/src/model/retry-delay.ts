import type { ModelFailure } from "./failure.ts";

const ATTEMPTS_MAX = 3;
/** Factor between consecutive waits. */
const GROWTH = 4;
/** Relative jitter in both directions, so that clients that failed together do not retry together. */
const JITTER = 0.2;
/** When a provider asks for a longer wait than this, the next model is tried instead, if there is one. */
const NEXT_MODEL_RATHER_MS = 2_000;

interface RetryState {
  /** Failed attempts with this model. */
  failed: number;
  /** Time left for this model. */
  leftMs: number;
  hasNext: boolean;
}

/**
 * How long to wait before a retry, in milliseconds; null for no retry. Respects the provider's Retry-After.
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
