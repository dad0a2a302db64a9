import { createHmac, randomBytes } from "node:crypto";
import { isSameSecret } from "@parley/shared/sealing";
import { algorithmOf, type Credentials, digest, type Once, readChallenges } from "./digest.ts";
import type { Params } from "./messages/grammar.ts";

/** `stale`: the password is right, but the nonce is too old, used or another process's; the client tries again by itself. */
export type Proof = "right" | "wrong" | "stale";

export interface Challenger {
  /** Values for WWW-Authenticate, strongest first. */
  challenge(realm: string, isStale?: boolean): string[];
  check(authorization: string, method: string, credentials: Credentials & { realm: string }): Proof;
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
    challenge: (realm, isStale = false) =>
      ALGORITHMS.map((algorithm) => {
        const nonce = signed(`${now()}-${randomBytes(6).toString("hex")}`);
        const stale = isStale ? ", stale=true" : "";
        return `Digest realm="${realm}", nonce="${nonce}", qop="auth", algorithm=${algorithm}${stale}`;
      }),
    check: (authorization, method, { username, password, realm }) => {
      const [shown] = readChallenges([authorization]);
      const [algorithm, nonce, uri] = [algorithmOf(shown?.get("algorithm")), shown?.get("nonce"), shown?.get("uri")];
      const once = onceOf(shown);
      if (!shown || !algorithm || nonce === undefined || uri === undefined || once === undefined) return "wrong";
      if (shown.get("username") !== username || shown.get("realm") !== realm) return "wrong";
      const cnonce = shown.get("cnonce") ?? "";
      const asked = { method, uri, body: "" };
      const right = digest(algorithm, { ...asked, username, password, realm, nonce, once, cnonce });
      if (!isSameSecret(shown.get("response") ?? "", right)) return "wrong";
      const [at = ""] = nonce.split(".");
      const isOurs = isSameSecret(nonce, signed(at)) && now() - Number.parseInt(at, 10) <= NONCE_MAX_MS;
      return isOurs && isFirst(`${nonce} ${once?.nc}`) ? "right" : "stale";
    },
  };
}

/** Null of a client that leaves it out, as RFC 2069 did; undefined if it makes no sense, or covers a body, which we did not ask for. */
function onceOf(shown: Params | undefined): Once | undefined {
  const [qop, nc, cnonce] = [shown?.get("qop")?.toLowerCase(), shown?.get("nc"), shown?.get("cnonce")];
  if (qop === undefined) return null;
  return qop === "auth" && nc !== undefined && cnonce !== undefined ? { qop, nc, cnonce } : undefined;
}
