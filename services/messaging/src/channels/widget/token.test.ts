import { expect, test } from "bun:test";
import { createSealer } from "@parley/shared/sealing";
import { widgetTokens } from "./token.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const NOW = new Date("2027-01-01T12:00:00Z");
const GRANT = { ownerId: "own_1", agentId: "agt_1", origin: "https://shop.example", sessionId: "session" };
const sealer = createSealer(KEY);
const tokens = widgetTokens(sealer);
const later = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);

test("a token opens with the values that it was issued for, until it expires after 15 minutes", () => {
  const { token, expiresAt } = tokens.issue(GRANT, NOW);
  expect(expiresAt).toEqual(later(15));
  expect(tokens.open(token, GRANT.origin, NOW)).toEqual(GRANT);
  expect(tokens.open(token, GRANT.origin, new Date(expiresAt.getTime() - 1))).toEqual(GRANT);
  expect(() => tokens.open(token, GRANT.origin, expiresAt)).toThrow("has expired");
});

test("an expired token is renewed for the same session until a day after the session's first token", () => {
  const first = tokens.issue(GRANT, NOW);
  const { grant, renewableUntil } = tokens.renew(first.token, GRANT.origin, later(60));
  expect(grant).toEqual(GRANT);
  const last = tokens.issue(grant, later(24 * 60 - 5), renewableUntil);
  expect(last.expiresAt).toEqual(later(24 * 60));
  expect(() => tokens.renew(last.token, GRANT.origin, later(24 * 60))).toThrow("has expired");
});

test("a token is not valid on a page of another origin", () => {
  const { token } = tokens.issue(GRANT, NOW);
  expect(() => tokens.open(token, "https://evil.example", NOW)).toThrow("wrong");
  expect(() => tokens.renew(token, "https://evil.example", NOW)).toThrow("wrong");
});

test("a token that was changed, made with another key or sealed for another purpose is refused", () => {
  const { token } = tokens.issue(GRANT, NOW);
  const foreign = widgetTokens(createSealer(Buffer.alloc(32, 2).toString("base64"))).issue(GRANT, NOW).token;
  const purpose = sealer.seal(JSON.stringify({ ...GRANT, expires: later(1).getTime() }), "model key");
  const flipped = `${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.at(-1)}`;
  for (const wrong of ["", "v1", token.slice(0, -4), flipped, foreign, purpose, `${token}${"A".repeat(5_000)}`]) {
    expect(() => tokens.open(wrong, GRANT.origin, NOW)).toThrow("The widget token is wrong or has expired");
  }
});

test("a token sealed with the previous key still opens", () => {
  const { token } = tokens.issue(GRANT, NOW);
  const next = widgetTokens(createSealer(`${Buffer.alloc(32, 2).toString("base64")},${KEY}`));
  expect(next.open(token, GRANT.origin, NOW)).toEqual(GRANT);
});
