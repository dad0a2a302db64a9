import { ServiceError } from "@parley/shared/errors";
import type { RateLimiter } from "./limiter.ts";

/** Attempts per minute: of one client, and at one account by all clients together. Right ones count too. */
const BY_ADDRESS = 10;
const AT_ACCOUNT = 5;

/**
 * Counts one guess at a password before it is looked at.
 * @param account the email or id of whose password it may be, known or not
 * @throws ServiceError rate_limited
 */
export async function limitGuesses(limiter: RateLimiter, address: string, account: string): Promise<void> {
  // Hashed, so that what somebody typed is neither long nor legible in Redis.
  const digest = new Bun.CryptoHasher("sha256").update(account.toLowerCase()).digest("base64url");
  for (const [key, limit] of [
    [`sign-in:${address}`, BY_ADDRESS],
    [`sign-in:${digest}`, AT_ACCOUNT],
  ] as const) {
    const { allowed, retryAfterSeconds } = await limiter.take(key, limit);
    if (allowed) continue;
    throw new ServiceError("rate_limited", "Too many attempts with a password, wait a minute", {
      retryAfterMs: retryAfterSeconds * 1000,
    });
  }
}
