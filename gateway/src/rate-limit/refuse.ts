import { ServiceError } from "@parley/shared/errors";
import type { Decision } from "./limiter.ts";

/** @throws ServiceError rate_limited unless the decision allows the request */
export function refuseOverRate(
  { allowed, limit, retryAfterSeconds }: Decision,
  detail = `Rate limit of ${limit} requests per minute exceeded`,
): void {
  if (!allowed) throw new ServiceError("rate_limited", detail, { retryAfterMs: retryAfterSeconds * 1000 });
}
