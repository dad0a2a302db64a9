import type { AgentPrompt } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import type { AgentRow } from "./agents.ts";
import type { VersionTool } from "./versions.ts";

export interface DraftKey {
  ownerId: string;
  agentId: string;
  draftId: string;
}

/** An agent as a change would make it, with the texts of its prompts. */
export interface Draft {
  row: AgentRow;
  prompt: AgentPrompt | undefined;
  analysisPrompt: AgentPrompt | undefined;
  /** Whether its conversations ask the start webhook. */
  asksStartWebhook: boolean;
  /** Those of the version that was asked for; others are as the library has them. */
  tools?: VersionTool[];
}

/** Keeps a draft, and of the owner's others as many of the newest as fit into `bytesMax` together with it. */
export async function insertDraft(
  sql: Sql,
  { ownerId, agentId, draftId }: DraftKey,
  draft: Draft,
  { now, expiresAt, bytesMax }: { now: Date; expiresAt: Date; bytesMax: number },
): Promise<void> {
  const content = JSON.stringify(draft);
  const bytes = Buffer.byteLength(content);
  await sql`
    with older as (
      delete from agent_drafts where owner_id = ${ownerId} and draft_id = any(array(
        select draft_id
        from (
          select draft_id, sum(bytes) over (order by created_at desc, draft_id desc) as kept_bytes
          from agent_drafts where owner_id = ${ownerId}
        ) as newest
        where kept_bytes > ${bytesMax - bytes}
      ))
    )
    insert into agent_drafts (owner_id, draft_id, agent_id, content, bytes, created_at, expires_at)
    values (${ownerId}, ${draftId}, ${agentId}, ${content}::text::json, ${bytes}, ${now}, ${expiresAt})`;
}

/** Returns null also when the draft has expired. */
export async function findDraft(sql: Sql, { ownerId, agentId, draftId }: DraftKey, now: Date): Promise<Draft | null> {
  const [found] = await sql<{ content: Draft }[]>`
    select content from agent_drafts
    where owner_id = ${ownerId} and draft_id = ${draftId} and agent_id = ${agentId} and expires_at > ${now}`;
  return found?.content ?? null;
}

/** Drafts that have expired. */
export const EXPIRED_DRAFTS: OldRows = { table: "agent_drafts", by: "expires_at", keptMs: 0, rows: 100 };
