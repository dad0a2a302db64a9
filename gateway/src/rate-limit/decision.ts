import { type Usage, WINDOW_MS } from "@parley/shared/rate-limit/window";
import type { Decision } from "./limiter.ts";

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
