import type { RateLimiter } from "./limiter.ts";
import { refuseOverRate } from "./refuse.ts";
import { takeInTurn } from "./take-in-turn.ts";

/** Attempts per minute of one client, and at one account by all clients together. Successful ones count too. */
const BY_ADDRESS = 10;
const AT_ACCOUNT = 5;

/** Counts one password attempt by the client's address, before its body is read. @throws ServiceError rate_limited */
export function limitGuessesFrom(limiter: RateLimiter, address: string): Promise<void> {
  return limitGuesses(limiter, address, BY_ADDRESS);
}

/**
 * Counts one password attempt before it is checked.
 * @param by what names the account: the email that somebody typed, or the owner whose session it is. They count apart, because
 *   anyone may type an owner's id.
 * @param account existing or not
 * @throws ServiceError rate_limited
 */
export function limitGuessesAt(limiter: RateLimiter, by: "email" | "owner", account: string): Promise<void> {
  // Hashed so that what a user typed is neither long nor readable in Redis.
  const digest = new Bun.CryptoHasher("sha256").update(`${by} ${account.toLowerCase()}`).digest("base64url");
  return limitGuesses(limiter, digest, AT_ACCOUNT);
}

async function limitGuesses(limiter: RateLimiter, of: string, limit: number): Promise<void> {
  refuseOverRate(await takeInTurn(limiter, "sign-in", of, limit), "Too many password attempts, wait a minute");
}
