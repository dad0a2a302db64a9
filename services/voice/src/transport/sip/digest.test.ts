import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type Algorithm, algorithmOf, answerChallenge, type Credentials, digest, readChallenges } from "./digest.ts";

const ASKED = { method: "INVITE", uri: "sip:agent@example.com", body: "v=0" };
const TRUNK = { username: 'tr"unk', password: "secret" };

/** The answer to the first challenge that can be met. */
const answered = (challenges: string[], credentials: Credentials = TRUNK) =>
  readChallenges(challenges)
    .map((challenge) => answerChallenge(challenge, ASKED, credentials))
    .find((answer) => answer !== null) ?? null;

test.each([
  ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
  ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
])("the answer with %s is that of RFC 7616, section 3.9.1", (name, response) => {
  const cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
  const example = {
    username: "Mufasa",
    password: "Circle of Life",
    realm: "http-auth@example.org",
    method: "GET",
    uri: "/dir/index.html",
    body: "",
    nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
    once: { qop: "auth" as const, nc: "00000001", cnonce },
    cnonce,
  };
  expect(digest(algorithmOf(name) as Algorithm, example)).toBe(response);
});

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const sha512 = (text: string) => createHash("sha512-256").update(text).digest("hex");
const KNOWN = 'tr"unk:r, s:secret';
const REQUEST = "INVITE:sip:agent@example.com";

/** The forms of challenges, and the answer by the formulas of RFC 2069, 2617 and 7616. */
test.each<[string, string[], (cnonce: string) => string]>([
  ["without qop", ['Digest realm="r, s", nonce="n"'], () => md5(`${md5(KNOWN)}:n:${md5(REQUEST)}`)],
  ["with an empty qop", ['Digest realm="r, s", nonce="n", qop=""'], () => md5(`${md5(KNOWN)}:n:${md5(REQUEST)}`)],
  [
    "with qop in any case, without quotes",
    ['DIGEST Realm="r, s",NONCE="n",QOP=AUTH,Algorithm=md5'],
    (cnonce) => md5(`${md5(KNOWN)}:n:00000001:${cnonce}:auth:${md5(REQUEST)}`),
  ],
  [
    "with several qop, spaces around signs, and unknown parameters",
    ['Digest  realm = "r, s" , nonce = "n" , x="a\\"b, qop=none" , qop = "auth-int, auth" , algorithm = "MD5"'],
    (cnonce) => md5(`${md5(KNOWN)}:n:00000001:${cnonce}:auth:${md5(REQUEST)}`),
  ],
  [
    "that protects the body",
    ['Digest realm="r, s", nonce="n", qop="auth-int"'],
    (cnonce) => md5(`${md5(KNOWN)}:n:00000001:${cnonce}:auth-int:${md5(`${REQUEST}:${md5("v=0")}`)}`),
  ],
  [
    "of a session",
    ['Digest realm="r, s", nonce="n", qop="auth", algorithm=MD5-sess'],
    (cnonce) => md5(`${md5(`${md5(KNOWN)}:n:${cnonce}`)}:n:00000001:${cnonce}:auth:${md5(REQUEST)}`),
  ],
  [
    "with SHA-256",
    ['Digest realm="r, s", nonce="n", qop="auth", algorithm=SHA-256'],
    (cnonce) => sha256(`${sha256(KNOWN)}:n:00000001:${cnonce}:auth:${sha256(REQUEST)}`),
  ],
  [
    "with SHA-512-256",
    ['Digest realm="r, s", nonce="n", algorithm=SHA-512-256'],
    () => sha512(`${sha512(KNOWN)}:n:${sha512(REQUEST)}`),
  ],
  [
    "after others in the same header",
    ['Bearer realm="x", Digest realm="other", nonce="m", algorithm=SHA-3, Digest realm="r, s", nonce="n"'],
    () => md5(`${md5(KNOWN)}:n:${md5(REQUEST)}`),
  ],
  [
    "after others in other headers",
    ["Bearer x", 'Digest realm="x", nonce="m", qop="none"', 'Digest realm="r, s", nonce="n"'],
    () => md5(`${md5(KNOWN)}:n:${md5(REQUEST)}`),
  ],
])("a challenge %s is answered", (_how, challenges, right) => {
  const [shown] = readChallenges([answered(challenges) ?? ""]);
  expect(shown?.get("username")).toBe('tr"unk');
  expect(shown?.get("response")).toBe(right(shown?.get("cnonce") ?? ""));
});

test("the first challenge that can be met is answered in its own words", () => {
  const answer = answered([
    'Digest realm="a", nonce="n", opaque="o\\"p", algorithm=sha-256',
    'Digest realm="b", nonce="n"',
  ]);
  expect(answer).toContain('realm="a"');
  expect(answer).toContain('opaque="o\\"p"');
  expect(answer).toEndWith("algorithm=sha-256");
});

test.each(["", "Bearer x", 'Digest nonce="n"', 'Digest realm="r"', 'Digest realm="r", nonce="n", algorithm=SHA-512'])(
  "nothing is shown to the challenge %p",
  (challenge) => {
    expect(answered([challenge])).toBeNull();
  },
);
