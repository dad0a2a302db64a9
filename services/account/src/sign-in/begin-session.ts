import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { insertSession, type SessionRow } from "../store/sessions.ts";
import { newToken } from "./session.ts";

const USER_AGENT_MAX = 300;

/** The response is the only place where the token itself appears. */
export async function beginSession(
  tx: Sql,
  ownerId: string,
  userAgent: string | undefined,
  now: Date,
): Promise<{ session: SessionRow; token: string }> {
  const { token, digest } = newToken();
  const session: SessionRow = {
    ownerId,
    sessionId: newId("ses"),
    createdAt: now,
    lastUsedAt: now,
    userAgent: shortened(userAgent),
  };
  await insertSession(tx, session, digest);
  return { session, token };
}

function shortened(userAgent = ""): string {
  return userAgent.toWellFormed().replaceAll("\0", "").slice(0, USER_AGENT_MAX).toWellFormed();
}
