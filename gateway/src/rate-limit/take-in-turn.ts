import { enterLoop } from "@parley/shared/shares/loop-entry";
import type { Decision, RateLimiter } from "./limiter.ts";

/**
 * Counts one request of somebody who needs no key, such as an address. Its requests that arrive together would otherwise all
 * begin in that turn of the loop; and because they share a take, all continue, or be refused, in one.
 * @param name what is limited: requests with the same name share the count
 * @param of whose request it is, such as a client address
 * @param limit the number of requests allowed in any 60 s
 */
export async function takeInTurn(limiter: RateLimiter, name: string, of: string, limit: number): Promise<Decision> {
  const begun = enterLoop(of);
  if (begun) await begun;
  const decision = await limiter.take(`${name}:${of}`, limit);
  const turn = enterLoop(of);
  if (turn) await turn;
  return decision;
}
