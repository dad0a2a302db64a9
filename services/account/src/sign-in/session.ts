import { createHash, randomBytes } from "node:crypto";

/** NIST SP 800-63B-4, 2.1.3: at most 30 days; and an unused one does not lie about for longer than a day. */
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;
const IDLE_MS = 24 * 60 * 60 * 1000;
/** Use is noted so seldom, so that reading does not mean writing. */
const NOTED_EVERY_MS = 5 * 60 * 1000;
const TOKEN_BYTES = 32;

export interface SessionTimes {
  createdAt: Date;
  lastUsedAt: Date;
}

export interface NewToken {
  /** Given to who signed in, and never kept. */
  token: string;
  digest: Buffer;
}

/** 256 random bits in base64url, and what is kept of them. */
export function newToken(): NewToken {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  return { token, digest: createHash("sha256").update(token).digest() };
}

/** When a session ends however much it is used. */
export function expiryOf({ createdAt }: Pick<SessionTimes, "createdAt">): Date {
  return new Date(createdAt.getTime() + LIFETIME_MS);
}

export function hasEnded(session: SessionTimes, now: Date): boolean {
  return now >= expiryOf(session) || session.lastUsedAt <= unusedSince(now);
}

/** A session that was not used after this time has ended. */
export function unusedSince(now: Date): Date {
  return new Date(now.getTime() - IDLE_MS);
}

/** Whether the use of a session is to be noted again. */
export function isUseNews({ lastUsedAt }: Pick<SessionTimes, "lastUsedAt">, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() >= NOTED_EVERY_MS;
}
