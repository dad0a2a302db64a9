import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import type { RunStatus } from "@parley/shared/domain/tests";
import type { OldRows } from "@parley/shared/jobs/old-rows";
import { PASS_VALID_MS } from "../score.ts";

export interface RunKey extends AgentKey {
  runId: string;
  isReplay: boolean;
}

export interface RunRow extends RunKey {
  agentVersion: number;
  /** Of the version's content. */
  versionHash: string;
  status: RunStatus;
  error: string | null;
  /** In millionths of a US dollar. */
  maxCost: number | null;
  cost: number;
  unpricedReplies: number;
  /** Grows with every change. */
  revision: number;
  createdBy: string;
  createdAt: Date;
  endedAt: Date | null;
}

const columns = (sql: Sql) => sql`
  owner_id, run_id, agent_id, is_replay, agent_version, version_hash, status, error, max_cost, cost, unpriced_replies,
  revision, created_by, created_at, ended_at`;

export async function insertRun(sql: Sql, row: RunRow): Promise<void> {
  await sql`
    insert into test_runs ${sql({
      owner_id: row.ownerId,
      run_id: row.runId,
      agent_id: row.agentId,
      is_replay: row.isReplay,
      agent_version: row.agentVersion,
      version_hash: row.versionHash,
      status: row.status,
      max_cost: row.maxCost,
      created_by: row.createdBy,
      created_at: row.createdAt,
    })}`;
}

export async function findRun(sql: Sql, { ownerId, agentId, runId, isReplay }: RunKey): Promise<RunRow | null> {
  const [row] = await sql<RunRow[]>`
    select ${columns(sql)} from test_runs
    where owner_id = ${ownerId} and run_id = ${runId} and agent_id = ${agentId} and is_replay = ${isReplay}`;
  return row ?? null;
}

/** Locked until the transaction ends: attempts of a run end one after the other. */
export async function lockRun(tx: Sql, { ownerId, runId }: Pick<RunKey, "ownerId" | "runId">): Promise<RunRow | null> {
  const [row] = await tx<RunRow[]>`
    select ${columns(tx)} from test_runs where owner_id = ${ownerId} and run_id = ${runId} for update`;
  return row ?? null;
}

/** Stores what changes while a run goes on. */
export async function updateRun(tx: Sql, row: RunRow): Promise<void> {
  await tx`
    update test_runs set status = ${row.status}, error = ${row.error}, cost = ${row.cost},
      unpriced_replies = ${row.unpricedReplies}, ended_at = ${row.endedAt}, revision = revision + 1
    where owner_id = ${row.ownerId} and run_id = ${row.runId}`;
}

/** Returns how often each of these runs has changed, in their order; null for one that is gone. */
export async function listRevisions(
  sql: Sql,
  keys: readonly Pick<RunKey, "ownerId" | "runId">[],
): Promise<(number | null)[]> {
  const rows = await sql<{ revision: number | null }[]>`
    select revision
    from unnest(${keys.map(({ ownerId }) => ownerId)}::text[], ${keys.map(({ runId }) => runId)}::text[])
      with ordinality as wanted (owner_id, run_id, at)
    left join test_runs using (owner_id, run_id) order by at`;
  return rows.map(({ revision }) => revision);
}

/** How many runs of the owner have not ended. */
export async function countOpenRuns(sql: Sql, ownerId: string): Promise<number> {
  const [row] = await sql<{ runs: number }[]>`
    select count(distinct run_id)::integer as runs from test_attempts
    where owner_id = ${ownerId} and status in ('QUEUED', 'RUNNING')`;
  return row?.runs ?? 0;
}

/** A page of an agent's runs or replays, newest first, and the number of all. */
export async function listRuns(
  sql: Sql,
  { ownerId, agentId, isReplay }: Omit<RunKey, "runId">,
  page: { number: number; size: number },
): Promise<{ rows: RunRow[]; total: number }> {
  const matching = sql`from test_runs where owner_id = ${ownerId} and agent_id = ${agentId} and is_replay = ${isReplay}`;
  const order = sql`order by created_at desc, run_id desc`;
  return readCountedPage<RunRow>(sql, {
    rows: sql`
      select ${columns(sql)} ${matching} ${order} limit ${page.size} offset ${(page.number - 1) * page.size}`,
    total: sql`select count(*) ${matching}`,
    bytes: sql`octet_length(page::text)`,
    order,
  });
}

/** Deletes the runs of an agent that have ended, but for the newest `kept`. */
export async function deleteSurplusRuns(
  tx: Sql,
  { ownerId, agentId, isReplay }: Omit<RunKey, "runId">,
  kept: number,
): Promise<void> {
  await tx`
    delete from test_runs where owner_id = ${ownerId} and run_id in (
      select run_id from test_runs
      where owner_id = ${ownerId} and agent_id = ${agentId} and is_replay = ${isReplay} and ended_at is not null
      order by created_at desc, run_id desc offset ${kept}
    )`;
}

/** Deletes the owner's oldest run that has ended. @returns whether there was one */
export async function deleteOldestRun(tx: Sql, ownerId: string): Promise<boolean> {
  const { count } = await tx`
    delete from test_runs where owner_id = ${ownerId} and run_id = (
      select run_id from test_runs where owner_id = ${ownerId} and ended_at is not null order by created_at, run_id limit 1
    )`;
  return count > 0;
}

/** As old as passes that no longer count: what was said in them may be a customer's. */
export const OLD_RUNS: OldRows = { table: "test_runs", by: "created_at", keptMs: PASS_VALID_MS, rows: 10 };
