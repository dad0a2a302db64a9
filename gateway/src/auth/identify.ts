import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Clock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { refuseOtherOrigins } from "../http/same-origin.ts";
import type { Guesses } from "../rate-limit/guesses.ts";
import type { RateLimiter } from "../rate-limit/limiter.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";
import { authenticateKey, type Scope, WrongKey } from "./api-key.ts";
import type { KeyRing, LookThrough } from "./key-ring.ts";
import { readSessionToken } from "./session-cookie.ts";

/** What a route requires of its caller: a key with a scope or a session, only a session, or nothing. */
export type Access = Scope | "session" | "anyone";

/** The authenticated caller. */
export interface Caller {
  ownerId: string;
  /** key_… or ses_…: the id whose rate is limited. */
  id: string;
  scopes: readonly string[];
  /** Whether someone is signed in, rather than a program with a key. */
  isSession: boolean;
  rateLimitPerMinute: number;
}

export interface IdentifyContext {
  keys: KeyRing;
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "authenticateSession">;
  addressLimiter: RateLimiter;
  /** Limits guesses of keys, sessions, ids and signatures. */
  guesses: Guesses;
  addressOf(request: Request): string;
  clock: Clock;
}

/** Requests of one address in any minute that lack the key or session they need: a program that forgot its key may ask on. */
const KEYLESS_PER_MINUTE = 300;
/** Requests per minute of one session: a dashboard page makes a handful. */
export const SESSION_REQUESTS_PER_MINUTE = 300;
const EVERYTHING = ["*", "agents:override"];

/**
 * Returns the caller; null on routes without authentication.
 * @throws ServiceError unauthenticated, forbidden for a write from another site's page, rate_limited for too many wrong keys or requests
 *   without any
 */
export async function identify(ctx: IdentifyContext, access: Access, request: Request): Promise<Caller | null> {
  if (access === "anyone") {
    refuseOtherOrigins(request);
    return null;
  }
  if (credentialOf(request) === null) {
    const decision = await ctx.addressLimiter.take(`keyless:${ctx.addressOf(request)}`, KEYLESS_PER_MINUTE);
    refuseOverRate(decision, "Too many requests without an API key from this address. Wait a minute.");
  }
  try {
    const isSession = access === "session" || (!hasKey(request) && hasSession(request));
    return isSession ? await callerOfSession(ctx, access, request) : await callerOfKey(ctx, request);
  } catch (error) {
    if (error instanceof WrongKey) {
      const address = ctx.addressOf(request);
      await ctx.guesses.count(
        address,
        "Too many invalid API keys or expired sessions from this address. Wait a minute.",
      );
    }
    throw error;
  }
}

/** What the request's key or session is remembered by once it was right; null without either. */
export function credentialOf(request: Request): string | null {
  const credential = request.headers.get("x-api-key") || readSessionToken(request);
  return credential ? sha256(credential).toString("latin1") : null;
}

function sha256(text: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

function hasKey(request: Request): boolean {
  return (request.headers.get("x-api-key") ?? "") !== "";
}

function hasSession(request: Request): boolean {
  return (readSessionToken(request) ?? "") !== "";
}

async function callerOfKey(ctx: IdentifyContext, request: Request): Promise<Caller> {
  const through: LookThrough = (sent, find) =>
    ctx.guesses.look({ of: ctx.addressOf(request), sent, gone: () => request.signal }, find, (grant) => grant === null);
  const grant = await authenticateKey(ctx.keys, ctx.clock, request.headers.get("x-api-key"), through);
  const { ownerId, keyId, scopes, rateLimitPerMinute } = grant;
  return { ownerId, id: keyId, scopes, isSession: false, rateLimitPerMinute };
}

/** Never cached here, so that signing out takes effect at once. A key is not accepted as a session. */
async function callerOfSession(ctx: IdentifyContext, access: Access, request: Request): Promise<Caller> {
  // The first message of an agent begins a chat, although it is read with GET.
  refuseOtherOrigins(request, access === "chat");
  const token = readSessionToken(request);
  if (token === null || token === "") throw new ServiceError("unauthenticated", "Not signed in");
  const digest = sha256(token);
  const guess = { of: ctx.addressOf(request), sent: digest.toString("latin1"), gone: () => request.signal };
  const find = () => ctx.accounts.authenticateSession({ digest });
  const { session } = await ctx.guesses.look(guess, find, (found) => !found.session);
  if (!session) throw new WrongKey("unauthenticated", "The session has ended. Sign in again.");
  const { ownerId, sessionId } = session;
  const rateLimitPerMinute = SESSION_REQUESTS_PER_MINUTE;
  return { ownerId, id: sessionId, scopes: EVERYTHING, isSession: true, rateLimitPerMinute };
}
