import type { TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import type { Page } from "@parley/proto/parley/common/v1/common.ts";
import type { Sql } from "@parley/shared/db/database";
import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow } from "../../read-agents.ts";
import { toListedReplay, toListedRun } from "../runs/to-run.ts";
import { countAttempts, listTestsOfRuns } from "../store/attempts.ts";
import { listRuns, type RunRow } from "../store/runs.ts";

interface Listed {
  ownerId: string;
  agentId: string;
  isReplay: boolean;
  page: Page | undefined;
}

export function listTestRuns(ctx: AgentContext): Handler<"listTestRuns"> {
  return async (request) => listAll(ctx, { ...request, isReplay: false }, listTestsOfRuns, toListedRun);
}

export function listReplays(ctx: AgentContext): Handler<"listReplays"> {
  return async (request) => {
    const { runs, total } = await listAll(ctx, { ...request, isReplay: true }, countAttempts, toListedReplay);
    return { replays: runs, total };
  };
}

/** @param read reads what runs have @param show shows a run with it */
async function listAll<P extends { runId: string }>(
  { db }: AgentContext,
  { ownerId, agentId, isReplay, page }: Listed,
  read: (sql: Sql, ownerId: string, runIds: readonly string[]) => Promise<P[]>,
  show: (run: RunRow, parts: readonly P[]) => TestRun,
) {
  checkAgentId(agentId);
  await getAgentRow(db, { ownerId, agentId });
  const { rows, total } = await listRuns(db, { ownerId, agentId, isReplay }, pageOf(page));
  const parts = await read(
    db,
    ownerId,
    rows.map(({ runId }) => runId),
  );
  const ofRun = Map.groupBy(parts, ({ runId }) => runId);
  return { runs: rows.map((row) => show(row, ofRun.get(row.runId) ?? [])), total };
}
