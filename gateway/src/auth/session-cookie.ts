import type { Session } from "@parley/proto/parley/account/v1/account.ts";
import { ownCookies } from "./own-cookie.ts";

const COOKIES = ownCookies("parley_session");
export const SESSION_COOKIES = COOKIES.names;

/** The token in a request; null for none. */
export function readSessionToken(request: Request): string | null {
  return COOKIES.read(request);
}

/** The header that gives the browser a session's token. */
export function sessionCookie(request: Request, token: string, { createdAt, expiresAt }: Session): string {
  const lifetimeMs = (expiresAt?.getTime() ?? 0) - (createdAt?.getTime() ?? 0);
  return COOKIES.header(request, token, Math.floor(lifetimeMs / 1000));
}

/** The header that removes it. */
export function noSessionCookie(request: Request): string {
  return COOKIES.header(request, "", 0);
}
