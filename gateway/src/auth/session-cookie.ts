import type { Session } from "@parley/proto/parley/account/v1/account.ts";

/**
 * RFC 6265bis: with this prefix, browsers accept the cookie only over TLS and from this very host, whatever a
 * neighbouring host sets.
 */
const NAME = "__Host-parley_session";
const NAME_ON_LOOPBACK = "parley_session";
export const SESSION_COOKIES = { secure: NAME, onLoopback: NAME_ON_LOOPBACK } as const;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** The token in a request; null for none. */
export function readSessionToken(request: Request): string | null {
  const cookies = request.headers.get("cookie");
  return cookies === null ? null : new Bun.CookieMap(cookies).get(nameFor(request));
}

/** The header that gives the browser a session's token, which it shows to no script and no other site. */
export function sessionCookie(request: Request, token: string, { createdAt, expiresAt }: Session): string {
  const lifetimeMs = (expiresAt?.getTime() ?? 0) - (createdAt?.getTime() ?? 0);
  return cookie(request, token, Math.floor(lifetimeMs / 1000));
}

/** The header that removes it. */
export function noSessionCookie(request: Request): string {
  return cookie(request, "", 0);
}

function cookie(request: Request, token: string, maxAge: number): string {
  const secure = !isPlainLoopback(request);
  const options = { path: "/", httpOnly: true, sameSite: "strict", secure, maxAge } as const;
  return new Bun.Cookie(nameFor(request), token, options).serialize();
}

function nameFor(request: Request): string {
  return isPlainLoopback(request) ? NAME_ON_LOOPBACK : NAME;
}

/**
 * Whether a browser on this machine talks to us without TLS, where not every browser accepts a secure cookie. Anywhere
 * else the cookie is secure even without TLS: failing to sign in is better than sending the session in plain text.
 */
function isPlainLoopback({ url, headers }: Request): boolean {
  const isTls = url.startsWith("https:") || headers.get("x-forwarded-proto") === "https";
  return !isTls && LOOPBACK_HOST.test(headers.get("host") ?? "");
}
