import { createHash, randomBytes } from "node:crypto";
import { type Params, paramsOf, quoted, split } from "./messages/grammar.ts";

/** Digest authentication (RFC 3261, section 22; RFC 8760). */
export interface Credentials {
  username: string;
  password: string;
}

/** What is proven to whom. */
interface Asked {
  method: string;
  uri: string;
  /** For servers that protect it (`qop=auth-int`). */
  body: string;
}

const HASHES = { MD5: "md5", "SHA-256": "sha256", "SHA-512-256": "sha512-256" } as const;

export interface Algorithm {
  /** As the challenge names it. */
  name: string;
  hash: (typeof HASHES)[keyof typeof HASHES];
  /** Whether the nonces are part of the secret (`-sess`). */
  isOfSession: boolean;
}

/** What makes an answer unlike an earlier one to the same nonce; `null` of servers and clients before RFC 2617. */
export type Once = { qop: "auth" | "auth-int"; nc: string; cnonce: string } | null;

/** The challenges of a header; each may have one value or be one of several in it. Other schemes are left out. */
export function readChallenges(values: readonly string[]): Params[] {
  return values.flatMap((value) => {
    const challenges: { isDigest: boolean; parts: string[] }[] = [];
    for (const part of split(value, ",")) {
      const [, scheme, rest = ""] = /^([^\s=]+)\s+(?![\s=])(.*)$/s.exec(part) ?? [];
      if (scheme === undefined) challenges.at(-1)?.parts.push(part);
      else challenges.push({ isDigest: scheme.toLowerCase() === "digest", parts: [rest] });
    }
    return challenges.filter(({ isDigest }) => isDigest).map(({ parts }) => paramsOf(parts));
  });
}

/** The answer to a challenge, as the value of (Proxy-)Authorization; null if we cannot meet it. */
export function answerChallenge(challenge: Params, asked: Asked, { username, password }: Credentials): string | null {
  const algorithm = algorithmOf(challenge.get("algorithm"));
  const realm = challenge.get("realm");
  const nonce = challenge.get("nonce");
  const offered = challenge
    .get("qop")
    ?.toLowerCase()
    .match(/[^,\s]+/g);
  const qop = offered && (["auth", "auth-int"] as const).find((each) => offered.includes(each));
  if (!algorithm || realm === undefined || nonce === undefined || (offered && !qop)) return null;
  const cnonce = randomBytes(12).toString("hex");
  const once = qop ? { qop, nc: "00000001", cnonce } : null;
  const response = digest(algorithm, { ...asked, username, password, realm, nonce, once, cnonce });
  const opaque = challenge.get("opaque");
  const values = Object.entries({
    username,
    realm,
    nonce,
    uri: asked.uri,
    response,
    ...(opaque !== undefined && { opaque }),
  });
  return `Digest ${[
    ...values.map(([name, value]) => `${name}=${quoted(value)}`),
    ...(once ? [`qop=${once.qop}`, `nc=${once.nc}`] : []),
    ...(once || algorithm.isOfSession ? [`cnonce="${cnonce}"`] : []),
    ...(challenge.has("algorithm") ? [`algorithm=${algorithm.name}`] : []),
  ].join(", ")}`;
}

interface Digested extends Credentials, Asked {
  realm: string;
  nonce: string;
  once: Once;
  cnonce: string;
}

export function digest({ hash: name, isOfSession }: Algorithm, given: Digested): string {
  const { method, uri, body, username, password, realm, nonce, once, cnonce } = given;
  const hash = (...parts: string[]) => createHash(name).update(parts.join(":")).digest("hex");
  const known = hash(username, realm, password);
  const secret = isOfSession ? hash(known, nonce, cnonce) : known;
  const request = once?.qop === "auth-int" ? hash(method, uri, hash(body)) : hash(method, uri);
  return once ? hash(secret, nonce, once.nc, once.cnonce, once.qop, request) : hash(secret, nonce, request);
}

/** Null for an algorithm that we do not know. */
export function algorithmOf(given = "MD5"): Algorithm | null {
  const [, name = "", session] = /^(.*?)(-sess)?$/i.exec(given) ?? [];
  const hash = Object.entries(HASHES).find(([known]) => known === name.toUpperCase())?.[1];
  return hash ? { name: given, hash, isOfSession: session !== undefined } : null;
}
