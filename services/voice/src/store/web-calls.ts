import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";

export interface WebCallRow {
  ownerId: string;
  conversationId: string;
  agentId: string;
  dynamicVariables: Record<string, unknown>;
  metadata: Record<string, unknown>;
  /** The draft of the agent that the call tries; null for the agent itself. */
  draftId: string | null;
  /** Null: the one that is published when the call begins. */
  agentVersion: number | null;
}

interface NewWebCall extends WebCallRow {
  tokenDigest: Uint8Array;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertWebCall(sql: Sql, call: NewWebCall): Promise<void> {
  await sql`
    insert into web_calls (owner_id, conversation_id, agent_id, dynamic_variables, metadata, draft_id, token_digest, created_at,
      expires_at, agent_version)
    values (${call.ownerId}, ${call.conversationId}, ${call.agentId}, ${sql.json(call.dynamicVariables as never)},
      ${sql.json(call.metadata as never)}, ${call.draftId}, ${call.tokenDigest}, ${call.createdAt}, ${call.expiresAt}, ${call.agentVersion})`;
}

/** Takes the call of a token that has neither been used nor expired, and marks the token as used; null if there is none. */
export async function claimWebCall(
  sql: Sql,
  { conversationId, tokenDigest, now }: { conversationId: string; tokenDigest: Uint8Array; now: Date },
): Promise<WebCallRow | null> {
  const [row] = await sql<WebCallRow[]>`
    update web_calls set connected_at = ${now}
    where token_digest = ${tokenDigest} and conversation_id = ${conversationId}
      and connected_at is null and expires_at > ${now}
    returning owner_id, conversation_id, agent_id, dynamic_variables, metadata, draft_id, agent_version`;
  return row ?? null;
}

/** Lets the browser try again, because the call did not begin. */
export async function releaseWebCall(sql: Sql, ownerId: string, conversationId: string): Promise<void> {
  await sql`
    update web_calls set connected_at = null
    where owner_id = ${ownerId} and conversation_id = ${conversationId}`;
}

/** Forgets what a call was created with, which its conversation has from its beginning. */
export async function forgetGiven(sql: Sql, ownerId: string, conversationId: string): Promise<void> {
  await sql`
    update web_calls set dynamic_variables = '{}', metadata = '{}'
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and (dynamic_variables <> '{}' or metadata <> '{}')`;
}

/** The owner of a token's call, whether connected or not; null if there is none. */
export async function findWebCallOwner(
  sql: Sql,
  { conversationId, tokenDigest }: { conversationId: string; tokenDigest: Uint8Array },
): Promise<string | null> {
  const [row] = await sql<{ ownerId: string }[]>`
    select owner_id from web_calls
    where token_digest = ${tokenDigest} and conversation_id = ${conversationId}`;
  return row?.ownerId ?? null;
}

/** A token can also hang up its call, so it is kept longer than any call lasts. */
export const EXPIRED_WEB_CALLS: OldRows = { table: "web_calls", by: "expires_at", keptMs: 24 * 60 * 60_000 };

/** Those that no browser connected in time cannot begin anymore, but for clocks that differ. */
export const UNUSED_WEB_CALLS: OldRows = {
  table: "web_calls",
  by: "expires_at",
  keptMs: 60_000,
  where: (sql) => sql`connected_at is null`,
};
