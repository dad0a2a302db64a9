import { expect, test } from "bun:test";
import { answerChallenge, challenger } from "./digest.ts";

const request = { method: "INVITE", uri: "sip:agent@example.com" };
const credentials = { username: "trunk", password: "secret" };
const known = { ...credentials, realm: "parley" };

test("an answer without qop is that of RFC 2617, section 3.5", () => {
  const answer = answerChallenge(
    ['Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c"'],
    { method: "GET", uri: "/dir/index.html" },
    { username: "Mufasa", password: "CircleOfLife" },
  );
  // Computed by `md5sum` from the formulas of RFC 2069.
  expect(answer).toContain('response="1949323746fe6a43ef61f9606e7febea"');
  expect(answer).toContain('opaque="5ccc069c"');
});

test("a caller who knows the password is recognized with every algorithm", () => {
  const server = challenger(() => 0);
  for (const challenge of server.challenge("parley")) {
    const answer = answerChallenge([challenge], request, credentials) ?? "";
    expect(server.check(answer, "INVITE", known)).toBe("right");
  }
});

test("the strongest known algorithm is used, and unknown schemes are skipped", () => {
  const [strong = "", weak = ""] = challenger(() => 0).challenge("parley");
  expect(answerChallenge(["Bearer x", strong, weak], request, credentials)).toEndWith("algorithm=SHA-256");
  expect(
    answerChallenge(["Bearer x", 'Digest realm="r", nonce="n", algorithm=SHA-512'], request, credentials),
  ).toBeNull();
});

test.each([
  ["another password", { ...credentials, password: "guess" }, "INVITE"],
  ["another user", { ...credentials, username: "somebody" }, "INVITE"],
  ["another method", credentials, "BYE"],
])("an answer with %s is wrong", (_what, shown, method) => {
  const server = challenger(() => 0);
  const answer = answerChallenge(server.challenge("parley"), request, shown) ?? "";
  expect(server.check(answer, method, known)).toBe("wrong");
});

test("an answer is accepted once, and not after its nonce's minute", () => {
  let now = 0;
  const server = challenger(() => now);
  const answer = answerChallenge(server.challenge("parley"), request, credentials) ?? "";
  expect(server.check(answer, "INVITE", known)).toBe("right");
  expect(server.check(answer, "INVITE", known)).toBe("stale");
  const late = answerChallenge(server.challenge("parley"), request, credentials) ?? "";
  now = 60_001;
  expect(server.check(late, "INVITE", known)).toBe("stale");
});

test("a nonce of another process is wrong", () => {
  const answer = answerChallenge(challenger(() => 0).challenge("parley"), request, credentials) ?? "";
  expect(challenger(() => 0).check(answer, "INVITE", known)).toBe("wrong");
});
