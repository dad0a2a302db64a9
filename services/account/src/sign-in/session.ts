import { createHash, randomBytes } from "node:crypto";
import type { SessionTimes } from "../store/sessions.ts";

/** NIST SP 800-63B-4, 2.1.3: at most 30 days; unused sessions end after a day. */
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;
const IDLE_MS = 24 * 60 * 60 * 1000;
const TOKEN_BYTES = 32;

interface NewToken {
  /** Returned at sign-in and never stored. */
  token: string;
  digest: Buffer;
}

/** 256 random bits in base64url, with the digest to store. */
export function newToken(): NewToken {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, digest: createHash("sha256").update(token).digest() };
}

/** When a session ends even if it is in use. */
export function expiryOf({ createdAt }: Pick<SessionTimes, "createdAt">): Date {
  return new Date(createdAt.getTime() + LIFETIME_MS);
}

export function hasEnded(session: SessionTimes, now: Date): boolean {
  return now >= expiryOf(session) || session.lastUsedAt <= unusedSince(now);
}

/** A session last used before this time has ended. */
export function unusedSince(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}
