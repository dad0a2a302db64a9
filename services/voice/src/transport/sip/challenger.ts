import { createHmac, randomBytes } from "node:crypto";
import { isSameSecret } from "@parley/shared/sealing";
import { algorithmOf, type Credentials, digest, type Once, readChallenges } from "./digest.ts";
import type { Params } from "./messages/grammar.ts";

/**
 * `stale`: the nonce is too old, used, or was not given to this address by this process; the client tries again with the next one by
 * itself. So only who has received our challenge can be wrong.
 */
export type Proof = "right" | "wrong" | "stale";

export interface Challenger {
  /** Values for WWW-Authenticate, strongest first. @param to the address that is asked */
  challenge(realm: string, to: string, isStale?: boolean): string[];
  check(
    authorization: string,
    asked: { method: string; from: string },
    credentials: Credentials & { realm: string },
  ): Proof;
}

/** The algorithms that every client has one of. */
const ALGORITHMS = ["SHA-256", "MD5"];
const NONCE_MAX_MS = 60_000;
/** Answers remembered against replay; each is forgotten with its nonce. */
const ANSWERS_MAX = 10_000;

/** Makes nonces that no other process can and takes each answer once. */
export function challenger(now: () => number): Challenger {
  const key = randomBytes(32);
  const seen = new Map<string, number>();
  const signed = (at: string, address: string) =>
    `${at}.${createHmac("sha256", key).update(`${at} ${address}`).digest("base64url")}`;

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
    challenge: (realm, to, isStale = false) =>
      ALGORITHMS.map((algorithm) => {
        const nonce = signed(`${now()}-${randomBytes(6).toString("hex")}`, to);
        const stale = isStale ? ", stale=true" : "";
        return `Digest realm="${realm}", nonce="${nonce}", qop="auth", algorithm=${algorithm}${stale}`;
      }),
    check: (authorization, { method, from }, { username, password, realm }) => {
      const [shown] = readChallenges([authorization]);
      const nonce = shown?.get("nonce") ?? "";
      const [at = ""] = nonce.split(".");
      if (!shown || !isSameSecret(nonce, signed(at, from))) return "stale";
      if (now() - Number.parseInt(at, 10) > NONCE_MAX_MS) return "stale";
      const [algorithm, uri, once] = [algorithmOf(shown.get("algorithm")), shown.get("uri"), onceOf(shown)];
      if (!algorithm || uri === undefined || once === undefined) return "wrong";
      if (shown.get("username") !== username || shown.get("realm") !== realm) return "wrong";
      const cnonce = shown.get("cnonce") ?? "";
      const right = digest(algorithm, { method, uri, body: "", username, password, realm, nonce, once, cnonce });
      if (!isSameSecret(shown.get("response") ?? "", right)) return "wrong";
      return isFirst(`${nonce} ${once?.nc}`) ? "right" : "stale";
    },
  };
}

/** Null of a client that leaves it out, as RFC 2069 did; undefined if it makes no sense, or covers a body, which we did not ask for. */
function onceOf(shown: Params): Once | undefined {
  const [qop, nc, cnonce] = [shown.get("qop")?.toLowerCase(), shown.get("nc"), shown.get("cnonce")];
  if (qop === undefined) return null;
  return qop === "auth" && nc !== undefined && cnonce !== undefined ? { qop, nc, cnonce } : undefined;
}
