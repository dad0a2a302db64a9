import { createHash, createHmac, randomBytes } from "node:crypto";
import { isSameSecret } from "@parley/shared/sealing";

/** Digest authentication (RFC 3261, section 22; RFC 8760 for SHA-256), both ways. */
export interface Credentials {
  username: string;
  password: string;
}

const ALGORITHMS = { "SHA-256": "sha256", MD5: "md5" } as const;
type Algorithm = keyof typeof ALGORITHMS;

/** The answer to the first challenge that we can meet, as the value of (Proxy-)Authorization; null if there is none. */
export function answerChallenge(
  challenges: readonly string[],
  request: { method: string; uri: string },
  { username, password }: Credentials,
): string | null {
  for (const challenge of challenges) {
    const params = readDigest(challenge);
    const algorithm = algorithmOf(params?.get("algorithm"));
    const realm = params?.get("realm");
    const nonce = params?.get("nonce");
    if (!params || !algorithm || realm === undefined || nonce === undefined) continue;
    const offered = params
      .get("qop")
      ?.split(",")
      .map((qop) => qop.trim());
    if (offered && !offered.includes("auth")) continue;
    const once = offered ? { nc: "00000001", cnonce: randomBytes(12).toString("hex") } : null;
    const response = digest(algorithm, { ...request, username, password, realm, nonce, once });
    const opaque = params.get("opaque");
    const quoted = { username, realm, nonce, uri: request.uri, response, ...(opaque !== undefined && { opaque }) };
    const values = Object.entries(quoted).map(([name, value]) => `${name}="${value.replaceAll(/["\\]/g, "\\$&")}"`);
    if (once) values.push("qop=auth", `nc=${once.nc}`, `cnonce="${once.cnonce}"`);
    return `Digest ${[...values, `algorithm=${algorithm}`].join(", ")}`;
  }
  return null;
}

export interface Challenger {
  /** Values for WWW-Authenticate, strongest first. */
  challenge(realm: string): string[];
  /** `stale`: right except for a nonce that is too old, so the client retries by itself. */
  check(
    authorization: string,
    method: string,
    credentials: Credentials & { realm: string },
  ): "right" | "wrong" | "stale";
}

const NONCE_MAX_MS = 60_000;
/** Answers remembered against replay; each is forgotten with its nonce. */
const ANSWERS_MAX = 10_000;

/** Makes nonces that no other process can and takes each answer once. */
export function challenger(now: () => number): Challenger {
  const key = randomBytes(32);
  const seen = new Map<string, number>();
  const signed = (at: string) => `${at}.${createHmac("sha256", key).update(at).digest("base64url")}`;

  const isFirst = (answer: string) => {
    for (const [old, at] of seen) {
      if (seen.size < ANSWERS_MAX && now() - at <= NONCE_MAX_MS) break;
      seen.delete(old);
    }
    if (seen.has(answer)) return false;
    seen.set(answer, now());
    return true;
  };

  return {
    challenge: (realm) =>
      (Object.keys(ALGORITHMS) as Algorithm[]).map((algorithm) => {
        const nonce = signed(`${now()}-${randomBytes(6).toString("hex")}`);
        return `Digest realm="${realm}", nonce="${nonce}", qop="auth", algorithm=${algorithm}`;
      }),
    check: (authorization, method, { username, password, realm }) => {
      const params = readDigest(authorization);
      const [algorithm, nonce = "", uri, nc, cnonce, response = ""] = [
        algorithmOf(params?.get("algorithm")),
        params?.get("nonce"),
        params?.get("uri"),
        params?.get("nc"),
        params?.get("cnonce"),
        params?.get("response"),
      ];
      if (!algorithm || uri === undefined || params?.get("username") !== username) return "wrong";
      if (nc === undefined || cnonce === undefined || params.get("realm") !== realm) return "wrong";
      const right = digest(algorithm, { method, uri, username, password, realm, nonce, once: { nc, cnonce } });
      const at = nonce.split(".")[0] as string;
      if (!isSameSecret(response, right) || !isSameSecret(nonce, signed(at))) return "wrong";
      if (now() - Number.parseInt(at, 10) > NONCE_MAX_MS || !isFirst(`${nonce} ${nc}`)) return "stale";
      return "right";
    },
  };
}

interface Digested extends Credentials {
  method: string;
  uri: string;
  realm: string;
  nonce: string;
  once: { nc: string; cnonce: string } | null;
}

function digest(algorithm: Algorithm, { method, uri, username, password, realm, nonce, once }: Digested): string {
  const hash = (...parts: string[]) => createHash(ALGORITHMS[algorithm]).update(parts.join(":")).digest("hex");
  const secret = hash(username, realm, password);
  const request = hash(method, uri);
  return once ? hash(secret, nonce, once.nc, once.cnonce, "auth", request) : hash(secret, nonce, request);
}

/** The parameters of a Digest value, or null for another scheme. */
function readDigest(value: string): Map<string, string> | null {
  const [, rest] = /^Digest\s+(.*)$/i.exec(value) ?? [];
  if (rest === undefined) return null;
  const pairs = rest.matchAll(/(?<![A-Za-z-])([A-Za-z-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s,"]+))/g);
  return new Map(
    pairs.map(([, name = "", quoted, plain = ""]) => [name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, "$1") ?? plain]),
  );
}

function algorithmOf(given = "MD5"): Algorithm | null {
  const algorithm = given.toUpperCase();
  return algorithm in ALGORITHMS ? (algorithm as Algorithm) : null;
}
