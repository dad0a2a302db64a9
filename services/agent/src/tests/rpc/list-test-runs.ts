import type { Page } from "@parley/proto/parley/common/v1/common.ts";
import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow } from "../../read-agents.ts";
import { toTestRun } from "../runs/to-run.ts";
import { listAttemptSummaries } from "../store/attempts.ts";
import { listRuns } from "../store/runs.ts";

interface Listed {
  ownerId: string;
  agentId: string;
  isReplay: boolean;
  page: Page | undefined;
}

export function listTestRuns(ctx: AgentContext): Handler<"listTestRuns"> {
  return async (request) => listAll(ctx, { ...request, isReplay: false });
}

export function listReplays(ctx: AgentContext): Handler<"listReplays"> {
  return async (request) => {
    const { runs, total } = await listAll(ctx, { ...request, isReplay: true });
    return { replays: runs, total };
  };
}

async function listAll({ db }: AgentContext, { ownerId, agentId, isReplay, page }: Listed) {
  checkAgentId(agentId);
  await getAgentRow(db, { ownerId, agentId });
  const { rows, total } = await listRuns(db, { ownerId, agentId, isReplay }, pageOf(page));
  const attempts = await listAttemptSummaries(
    db,
    ownerId,
    rows.map(({ runId }) => runId),
  );
  const ofRun = Map.groupBy(attempts, ({ runId }) => runId);
  return { runs: rows.map((row) => toTestRun(row, ofRun.get(row.runId) ?? [])), total };
}
