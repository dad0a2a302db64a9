import { ServiceError } from "@parley/shared/errors";
import type { Decision } from "./limiter.ts";

/** @throws ServiceError rate_limited unless the decision allows */
export function refuseOverRate({ allowed, limit, retryAfterSeconds }: Decision): void {
  if (allowed) return;
  throw new ServiceError("rate_limited", `Rate limit of ${limit} requests per minute exceeded`, {
    retryAfterMs: retryAfterSeconds * 1000,
  });
}
