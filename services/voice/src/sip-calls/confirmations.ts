/** Of one owner: each takes a port for audio. */
export const CONFIRMATIONS_MAX = 10;

/** Answers a call, which ends if it is given up before its caller confirms it. */
export type Confirm = <T>(ownerId: string, accept: (givenUp: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Bounds the calls of an owner that are answered and not confirmed. Of too many the oldest is given up: a caller confirms within a round
 * trip, and whoever forges addresses never does.
 */
export function confirmations(): Confirm {
  const waiting = new Map<string, Set<AbortController>>();
  return async (ownerId, accept) => {
    const calls = waiting.get(ownerId) ?? new Set();
    waiting.set(ownerId, calls);
    const [oldest] = calls;
    if (oldest && calls.size >= CONFIRMATIONS_MAX) {
      calls.delete(oldest);
      oldest.abort();
    }
    const call = new AbortController();
    calls.add(call);
    try {
      return await accept(call.signal);
    } finally {
      calls.delete(call);
      if (calls.size === 0 && waiting.get(ownerId) === calls) waiting.delete(ownerId);
    }
  };
}
