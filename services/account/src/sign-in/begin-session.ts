import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { insertSession, type SessionRow } from "../store/sessions.ts";
import { newToken } from "./session.ts";

/** The response is the only place where the token itself appears. */
export async function beginSession(
  tx: Sql,
  ownerId: string,
  now: Date,
): Promise<{ session: SessionRow; token: string }> {
  const { token, digest } = newToken();
  const session: SessionRow = { ownerId, sessionId: newId("ses"), createdAt: now, lastUsedAt: now };
  await insertSession(tx, session, digest);
  return { session, token };
}
