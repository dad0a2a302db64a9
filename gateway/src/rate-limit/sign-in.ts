import type { Decision, RateLimiter } from "./limiter.ts";
import { refuseOverRate } from "./refuse.ts";

/**
 * Attempts per minute of one client, and at one account by all clients together, and again by each device that signed in to it before.
 * Successful ones count too.
 */
const BY_ADDRESS = 10;
const AT_ACCOUNT = 5;
const BY_DEVICE = 5;

/** Counts one password attempt by the client's address, before its body is read. @throws ServiceError rate_limited */
export async function limitGuessesFrom(limiter: RateLimiter, address: string): Promise<void> {
  refuse(await take(limiter, address, BY_ADDRESS));
}

/**
 * Counts one password attempt before it is checked.
 * @param by what names the account: the email that somebody typed, or the owner whose session it is. They count apart, because
 *   anyone may type an owner's id.
 * @param account existing or not
 * @param knownDevice asked when others have used up the account's attempts: what names the device if it signed in to the account
 *   before, otherwise null. Such a device has attempts of its own, so that nobody locks an owner out who only knows the email.
 * @throws ServiceError rate_limited
 */
export async function limitGuessesAt(
  limiter: RateLimiter,
  by: "email" | "owner",
  account: string,
  knownDevice: () => Promise<string | null> = async () => null,
): Promise<void> {
  const decision = await take(limiter, digestOf(`${by} ${account.toLowerCase()}`), AT_ACCOUNT);
  if (decision.allowed) return;
  const device = await knownDevice();
  refuse(device === null ? decision : await take(limiter, digestOf(`device ${device}`), BY_DEVICE));
}

/** Hashed so that what a user typed is neither long nor readable in Redis. */
function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64url");
}

function take(limiter: RateLimiter, of: string, limit: number): Promise<Decision> {
  return limiter.take(`sign-in:${of}`, limit);
}

function refuse(decision: Decision): void {
  refuseOverRate(decision, "Too many password attempts. Wait a minute.");
}
