import { expect, test } from "bun:test";
import { type Challenger, challenger } from "./challenger.ts";
import { answerChallenge, readChallenges } from "./digest.ts";

const request = { method: "INVITE", uri: "sip:agent@example.com", body: "" };
const credentials = { username: "trunk", password: "secret" };
const GUESS = { ...credentials, password: "guess" };
const CALLER = "192.0.2.1";
const ASKED = { method: "INVITE", from: CALLER };
const known = { ...credentials, realm: "parley" };

const answers = (challenges: string[], shown = credentials) =>
  readChallenges(challenges).map((challenge) => answerChallenge(challenge, request, shown) ?? "");
const answer = (challenges: string[], shown = credentials) => answers(challenges, shown)[0] ?? "";

test("a caller who knows the password is recognized with every algorithm", () => {
  const server = challenger(() => 0);
  const proofs = answers(server.challenge("parley", CALLER)).map((shown) => server.check(shown, ASKED, known));
  expect(proofs).toEqual(["right", "right"]);
});

test("a caller who ignores qop, as old telephones do, is recognized once for each nonce", () => {
  const server = challenger(() => 0);
  const shown = answer(server.challenge("parley", CALLER).map((challenge) => challenge.replace(', qop="auth"', "")));
  expect(shown).not.toContain("nc=");
  expect([server.check(shown, ASKED, known), server.check(shown, ASKED, known)]).toEqual(["right", "stale"]);
});

test.each([
  ["another password", GUESS, "INVITE"],
  ["another user", { ...credentials, username: "somebody" }, "INVITE"],
  ["another method", credentials, "BYE"],
])("an answer with %s is wrong", (_what, shown, method) => {
  const server = challenger(() => 0);
  expect(server.check(answer(server.challenge("parley", CALLER), shown), { method, from: CALLER }, known)).toBe(
    "wrong",
  );
});

test("an answer is accepted once, and not after its nonce's minute", () => {
  let now = 0;
  const server = challenger(() => now);
  const first = answer(server.challenge("parley", CALLER));
  expect(server.check(first, ASKED, known)).toBe("right");
  expect(server.check(first, ASKED, known)).toBe("stale");
  const late = answer(server.challenge("parley", CALLER));
  now = 60_001;
  expect(server.check(late, ASKED, known)).toBe("stale");
});

test.each([
  ["of another process", () => answer(challenger(() => 0).challenge("parley", CALLER))],
  ["of another process, and the wrong password", () => answer(challenger(() => 0).challenge("parley", CALLER), GUESS)],
  ["that another address got", (server: Challenger) => answer(server.challenge("parley", "192.0.2.2"))],
  ["that nobody got", () => answer(['Digest realm="parley", nonce="0-1.forged"'])],
  ["of another scheme", () => "Basic dHJ1bms6c2VjcmV0"],
])("a caller whose nonce is one %s is asked to use ours, and is not wrong", (_whose, shown) => {
  const server = challenger(() => 0);
  expect(server.check(shown(server), ASKED, known)).toBe("stale");
  expect(server.challenge("parley", CALLER, true)).toEqual([
    expect.stringContaining("stale=true"),
    expect.stringContaining("stale=true"),
  ]);
});
