import { describe, expect, test } from "bun:test";
import { noSessionCookie, readSessionToken, sessionCookie } from "../src/auth/session-cookie.ts";

const request = (url: string, headers: Record<string, string> = {}) =>
  new Request(url, { headers: { host: new URL(url).host, ...headers } });
const SESSION = {
  sessionId: "ses_x",
  ownerId: "own_x",
  createdAt: new Date("2026-01-01T00:00:00Z"),
  expiresAt: new Date("2026-01-31T00:00:00Z"),
  lastUsedAt: new Date("2026-01-01T00:00:00Z"),
  userAgent: "",
};
const BEHIND_TLS = { "x-forwarded-proto": "https" };

describe("the session's cookie", () => {
  test.each([
    ["https://parley.example/", {}],
    ["https://localhost:8443/", {}],
    ["http://parley.example/", {}],
    ["http://10.1.2.3:8080/", {}],
    ["http://127.0.0.1:8080/", BEHIND_TLS],
  ])("at %s %j is the host's own, secure, and no script's", (url, headers: Record<string, string>) => {
    expect(sessionCookie(request(url, headers), "abc", SESSION)).toBe(
      "__Host-parley_session=abc; Path=/; Max-Age=2592000; Secure; HttpOnly; SameSite=Strict",
    );
  });

  test.each(["http://localhost/", "http://127.0.0.1:8080/", "http://[::1]:8080/"])(
    "at %s needs no TLS, because there is none",
    (url) => {
      expect(sessionCookie(request(url), "abc", SESSION)).toBe(
        "parley_session=abc; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict",
      );
      expect(noSessionCookie(request(url))).toBe("parley_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    },
  );

  test("is read under the name that it was set with", () => {
    const cookie = "other=1; parley_session=plain; __Host-parley_session=secure";
    expect(readSessionToken(request("https://parley.example/", { cookie }))).toBe("secure");
    expect(readSessionToken(request("http://localhost:8080/", { cookie }))).toBe("plain");
    expect(readSessionToken(request("https://parley.example/", { cookie: "parley_session=planted" }))).toBeNull();
    expect(readSessionToken(request("https://parley.example/", { cookie: "%zz; =; ;" }))).toBeNull();
    expect(readSessionToken(request("https://parley.example/"))).toBeNull();
  });
});
