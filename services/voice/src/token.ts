import { createHash, randomBytes } from "node:crypto";

/** 256 random bits, in the alphabet that Authorization headers take. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** What is stored of a token. */
export function tokenDigest(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
