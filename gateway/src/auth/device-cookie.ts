import { ownCookies } from "./own-cookie.ts";

/** It opens nothing, and stays when its owner signs out. */
const COOKIES = ownCookies("parley_device");
const KEPT_SECONDS = 180 * 24 * 60 * 60;

/** By what the account service knows a browser that signed in before; null for another one. */
export function readDeviceToken(request: Request): string | null {
  return COOKIES.read(request);
}

/** The header that gives the browser its token. */
export function deviceCookie(request: Request, token: string): string {
  return COOKIES.header(request, token, KEPT_SECONDS);
}
