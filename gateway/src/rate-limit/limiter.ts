/**
 * A sliding window of 60 s: in any 60 s a key is allowed at most its limit (docs/decisions/0006-sliding-window-rate-limits.md). An
 * allowed request is forgotten when it is 60 s old, above 1,000 a minute up to 59 ms later, so a client that sends evenly at its
 * limit (above 1,000 a minute: at 99.9 % of it) is never refused.
 */
export interface RateLimiter {
  /**
   * Counts one request against `key`; a refused request does not count. The key names whose requests are limited: an API key, a
   * session, or a client address. For an address, wrong keys count (when not allowed, answer 429 instead of 401), and so do
   * requests to routes that need no key (routes/open-endpoint.ts); valid keys do not. `limit` is the number of requests allowed
   * in any 60 s, at least 1; 0 refuses everything.
   */
  take(key: string, limit: number): Promise<Decision>;
}

export interface Decision {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Unix second at which the full limit is available again if nothing more is sent. */
  resetAtSeconds: number;
  /** 0 when allowed, otherwise at least 1: after this wait one request is allowed if no others arrive. */
  retryAfterSeconds: number;
}
