import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Clock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { refuseOtherOrigins } from "../http/same-origin.ts";
import type { RateLimiter } from "../rate-limit/limiter.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";
import { authenticate, type Scope, WrongKey } from "./authenticate.ts";
import type { KeyRing } from "./key-ring.ts";
import { readSessionToken } from "./session-cookie.ts";

/** What a route asks of who calls it: a key with a scope, an owner's session, or nothing. */
export type Access = Scope | "session" | "anyone";

/** Who calls. */
export interface Caller {
  ownerId: string;
  /** key_… or ses_…: an id of the owner's, by which the rate is limited. */
  id: string;
  scopes: readonly string[];
  rateLimitPerMinute: number;
}

export interface IdentifyContext {
  keys: KeyRing;
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "authenticateSession">;
  addressLimiter: RateLimiter;
  addressOf(request: Request): string;
  clock: Clock;
}

/** Wrong keys a minute from one client address before further ones get 429. */
const WRONG_KEYS_PER_MINUTE = 60;
/** Of one session: a page of the dashboard makes a handful. */
const SESSION_REQUESTS_PER_MINUTE = 300;

/**
 * Who calls, null where nobody is asked for.
 * @throws ServiceError unauthenticated, forbidden for a write from another site's page, rate_limited for too many wrong keys
 */
export async function identify(ctx: IdentifyContext, access: Access, request: Request): Promise<Caller | null> {
  if (access === "anyone") {
    refuseOtherOrigins(request);
    return null;
  }
  try {
    return access === "session" ? await callerOfSession(ctx, request) : await callerOfKey(ctx, request);
  } catch (error) {
    if (error instanceof WrongKey) {
      const decision = await ctx.addressLimiter.take(ctx.addressOf(request), WRONG_KEYS_PER_MINUTE);
      refuseOverRate(decision, "Too many wrong keys or ended sessions came from this address, wait a minute");
    }
    throw error;
  }
}

async function callerOfKey(ctx: IdentifyContext, request: Request): Promise<Caller> {
  const grant = await authenticate(ctx.keys, ctx.clock, request.headers.get("x-api-key"));
  const { ownerId, keyId, scopes, rateLimitPerMinute } = grant;
  return { ownerId, id: keyId, scopes, rateLimitPerMinute };
}

/** Never remembered here, so that signing out holds at once; a key is no session, nor the other way round. */
async function callerOfSession(ctx: IdentifyContext, request: Request): Promise<Caller> {
  refuseOtherOrigins(request);
  const token = readSessionToken(request);
  if (token === null || token === "") throw new ServiceError("unauthenticated", "Not signed in");
  const digest = new Bun.CryptoHasher("sha256").update(token).digest();
  const { session } = await ctx.accounts.authenticateSession({ digest });
  if (!session) throw new WrongKey("unauthenticated", "The session has ended, sign in again");
  const { ownerId, sessionId } = session;
  return { ownerId, id: sessionId, scopes: ["session"], rateLimitPerMinute: SESSION_REQUESTS_PER_MINUTE };
}
