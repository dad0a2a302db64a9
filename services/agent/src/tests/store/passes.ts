import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import { PASS_VALID_MS } from "../score.ts";

/** Stores that a test has passed, by the key of version and test. */
export async function insertPass(tx: Sql, { ownerId, agentId }: AgentKey, passKey: string, now: Date): Promise<void> {
  await tx`
    insert into test_passes (owner_id, agent_id, pass_key, passed_at) values (${ownerId}, ${agentId}, ${passKey}, ${now})
    on conflict (owner_id, agent_id, pass_key) do update set passed_at = excluded.passed_at`;
}

/** Which of the keys have passed since then. */
export async function listPasses(
  sql: Sql,
  { ownerId, agentId }: AgentKey,
  keys: readonly string[],
  since: Date,
): Promise<Set<string>> {
  const rows = await sql<{ passKey: string }[]>`
    select pass_key from test_passes
    where owner_id = ${ownerId} and agent_id = ${agentId} and pass_key = any(${keys as string[]}) and passed_at > ${since}`;
  return new Set(rows.map(({ passKey }) => passKey));
}

export const OLD_PASSES: OldRows = { table: "test_passes", by: "passed_at", keptMs: PASS_VALID_MS };
