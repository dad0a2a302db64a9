import { ServiceError } from "@parley/shared/errors";
import type { RateLimiter } from "./limiter.ts";

/** Attempts per minute: of one client, and at one account by all clients together. Right ones count too. */
const BY_ADDRESS = 10;
const AT_ACCOUNT = 5;

/**
 * Counts one guess at a password by the client's address, which is known before anything of the guess is read.
 * @throws ServiceError rate_limited
 */
export function limitGuessesFrom(limiter: RateLimiter, address: string): Promise<void> {
  return limitGuesses(limiter, address, BY_ADDRESS);
}

/**
 * Counts one guess at a password before it is looked at.
 * @param account the email or id of whose password it may be, known or not
 * @throws ServiceError rate_limited
 */
export function limitGuessesAt(limiter: RateLimiter, account: string): Promise<void> {
  // Hashed, so that what somebody typed is neither long nor legible in Redis.
  const digest = new Bun.CryptoHasher("sha256").update(account.toLowerCase()).digest("base64url");
  return limitGuesses(limiter, digest, AT_ACCOUNT);
}

async function limitGuesses(limiter: RateLimiter, of: string, limit: number): Promise<void> {
  const { allowed, retryAfterSeconds } = await limiter.take(`sign-in:${of}`, limit);
  if (allowed) return;
  throw new ServiceError("rate_limited", "Too many attempts with a password, wait a minute", {
    retryAfterMs: retryAfterSeconds * 1000,
  });
}
