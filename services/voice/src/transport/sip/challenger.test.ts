import { expect, test } from "bun:test";
import { challenger } from "./challenger.ts";
import { answerChallenge, readChallenges } from "./digest.ts";

const request = { method: "INVITE", uri: "sip:agent@example.com", body: "" };
const credentials = { username: "trunk", password: "secret" };
const known = { ...credentials, realm: "parley" };

const answers = (challenges: string[], shown = credentials) =>
  readChallenges(challenges).map((challenge) => answerChallenge(challenge, request, shown) ?? "");
const answer = (challenges: string[], shown = credentials) => answers(challenges, shown)[0] ?? "";

test("a caller who knows the password is recognized with every algorithm", () => {
  const server = challenger(() => 0);
  const proofs = answers(server.challenge("parley")).map((shown) => server.check(shown, "INVITE", known));
  expect(proofs).toEqual(["right", "right"]);
});

test("a caller who ignores qop, as old telephones do, is recognized once for each nonce", () => {
  const server = challenger(() => 0);
  const shown = answer(server.challenge("parley").map((challenge) => challenge.replace(', qop="auth"', "")));
  expect(shown).not.toContain("nc=");
  expect([server.check(shown, "INVITE", known), server.check(shown, "INVITE", known)]).toEqual(["right", "stale"]);
});

test.each([
  ["another password", { ...credentials, password: "guess" }, "INVITE"],
  ["another user", { ...credentials, username: "somebody" }, "INVITE"],
  ["another method", credentials, "BYE"],
])("an answer with %s is wrong", (_what, shown, method) => {
  const server = challenger(() => 0);
  expect(server.check(answer(server.challenge("parley"), shown), method, known)).toBe("wrong");
});

test("an answer is accepted once, and not after its nonce's minute", () => {
  let now = 0;
  const server = challenger(() => now);
  const first = answer(server.challenge("parley"));
  expect(server.check(first, "INVITE", known)).toBe("right");
  expect(server.check(first, "INVITE", known)).toBe("stale");
  const late = answer(server.challenge("parley"));
  now = 60_001;
  expect(server.check(late, "INVITE", known)).toBe("stale");
});

test("a caller with the right password and a nonce of another process is asked to use ours", () => {
  const server = challenger(() => 0);
  const proof = (shown: string) => server.check(shown, "INVITE", known);
  expect(proof(answer(challenger(() => 0).challenge("parley")))).toBe("stale");
  expect(server.challenge("parley", true)).toEqual([
    expect.stringContaining("stale=true"),
    expect.stringContaining("stale=true"),
  ]);
});
