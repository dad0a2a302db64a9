import { isOverTls } from "./over-tls.ts";

/**
 * RFC 6265bis: with this prefix, browsers accept a cookie only over TLS and from this very host, whatever a neighbouring host sets.
 */
const PREFIX = "__Host-";
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/** A cookie that the browser shows to no script and no other site. @param name without the prefix */
export function ownCookies(name: string) {
  const names = { secure: `${PREFIX}${name}`, onLoopback: name } as const;
  const nameFor = (request: Request) => (isPlainLoopback(request) ? names.onLoopback : names.secure);
  return {
    names,
    /** The value in a request; null for none. */
    read(request: Request): string | null {
      const cookies = request.headers.get("cookie");
      return cookies === null ? null : new Bun.CookieMap(cookies).get(nameFor(request));
    },
    /** The header that gives the browser a value. @param maxAge how long it keeps the value, in seconds; 0 removes it */
    header(request: Request, value: string, maxAge: number): string {
      const secure = !isPlainLoopback(request);
      const options = { path: "/", httpOnly: true, sameSite: "strict", secure, maxAge } as const;
      return new Bun.Cookie(nameFor(request), value, options).serialize();
    },
  };
}

/**
 * Whether a browser on this machine talks to us without TLS, where not every browser accepts a secure cookie. Anywhere
 * else the cookie is secure even without TLS: failing to sign in is better than sending the session in plain text.
 */
function isPlainLoopback(request: Request): boolean {
  return !isOverTls(request) && LOOPBACK_HOST.test(request.headers.get("host") ?? "");
}
