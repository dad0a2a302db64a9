import { ServiceError } from "@parley/shared/errors";
import { enterLoop } from "@parley/shared/shares/loop-entry";
import type { RateLimiter } from "./limiter.ts";

/** Attempts per minute of one client, and at one account by all clients together. Successful ones count too. */
const BY_ADDRESS = 10;
const AT_ACCOUNT = 5;

/** Counts one password attempt by the client's address, before its body is read. @throws ServiceError rate_limited */
export function limitGuessesFrom(limiter: RateLimiter, address: string): Promise<void> {
  return limitGuesses(limiter, address, BY_ADDRESS);
}

/**
 * Counts one password attempt before it is checked.
 * @param account the email or id of the account, existing or not
 * @throws ServiceError rate_limited
 */
export function limitGuessesAt(limiter: RateLimiter, account: string): Promise<void> {
  // Hashed so that what a user typed is neither long nor readable in Redis.
  const digest = new Bun.CryptoHasher("sha256").update(account.toLowerCase()).digest("base64url");
  return limitGuesses(limiter, digest, AT_ACCOUNT);
}

async function limitGuesses(limiter: RateLimiter, of: string, limit: number): Promise<void> {
  // As with other requests without a key (routes/open-endpoint.ts).
  const begun = enterLoop(of);
  if (begun) await begun;
  const { allowed, retryAfterSeconds } = await limiter.take(`sign-in:${of}`, limit);
  // As with the requests of a key (gate.ts).
  const turn = enterLoop(of);
  if (turn) await turn;
  if (allowed) return;
  throw new ServiceError("rate_limited", "Too many password attempts, wait a minute", {
    retryAfterMs: retryAfterSeconds * 1000,
  });
}
