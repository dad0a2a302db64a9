import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { type Actor, actorText } from "@parley/shared/rpc/actor";
import type { AgentContext } from "../../context.ts";
import { withinAgentRoom } from "../../room.ts";
import type { AgentVersion } from "../../store/versions.ts";
import { type AttemptKey, insertAttempts, listAttemptSummaries, type NewAttempt } from "../store/attempts.ts";
import { countOpenRuns, deleteSurplusRuns, insertRun, type RunRow } from "../store/runs.ts";
import type { TestRow } from "../store/tests.ts";
import { enqueueLanes } from "./lanes.ts";
import { requirePrices } from "./models.ts";
import { toTestRun } from "./to-run.ts";

/** Runs of an owner that have not ended. */
const OPEN_MAX = 10;
/** Of an agent, runs and replays each, of those that have ended. */
const KEPT_MAX = 50;

interface RunRequest extends AgentKey {
  maxCostUsdMicros?: number | undefined;
  allowUnpriced: boolean;
}

/**
 * Stores a run of a version, or a replay with it, and has it begin.
 * @throws ServiceError invalid for a cap that models without a price could exceed, conflict while the owner has many runs that have not
 *   ended, or no room
 */
export async function startRun(
  ctx: AgentContext,
  tx: Sql,
  { ownerId, agentId, maxCostUsdMicros, allowUnpriced }: RunRequest,
  { agentVersion, hash, row }: AgentVersion,
  { isReplay, actor }: { isReplay: boolean; actor: Actor },
  attempts: readonly Omit<NewAttempt, keyof AttemptKey>[],
): Promise<TestRun> {
  if (maxCostUsdMicros !== undefined && !allowUnpriced)
    requirePrices(
      ctx,
      row,
      attempts.map(({ definition }) => definition),
    );
  const runId = newId(isReplay ? "rpl" : "run");
  const run: RunRow = {
    ...{ ownerId, agentId, runId, isReplay, agentVersion, versionHash: hash },
    ...{ status: "QUEUED", error: null, cost: 0, unpricedReplies: 0, revision: 0, endedAt: null },
    maxCost: maxCostUsdMicros ?? null,
    createdBy: actorText(actor),
    createdAt: ctx.clock.now(),
  };
  await withinAgentRoom(tx, ctx, ownerId, async () => {
    if ((await countOpenRuns(tx, ownerId)) >= OPEN_MAX) {
      const detail = `${OPEN_MAX} runs and replays of yours have not ended: wait for one, or cancel it`;
      throw new ServiceError("conflict", detail);
    }
    await deleteSurplusRuns(tx, run, KEPT_MAX - 1);
    await insertRun(tx, run);
    await insertAttempts(
      tx,
      attempts.map((attempt, place) => ({ ownerId, runId, place, ...attempt })),
    );
  });
  await enqueueLanes(tx, ownerId, run.createdAt);
  return toTestRun(run, await listAttemptSummaries(tx, run));
}

/** The tests with these ids or names, each once; all without any. @throws ServiceError not_found */
export function chosenTests(tests: readonly TestRow[], wanted: readonly string[]): TestRow[] {
  if (tests.length === 0) throw invalid("tests", "The agent has no tests: create one first");
  if (wanted.length === 0) return [...tests];
  const chosen = wanted.map((each) => {
    const test = tests.find(({ testId, name }) => testId === each || name === each);
    if (!test) throw notFound(`Test ${each}`, "tests");
    return test;
  });
  return [...new Set(chosen)];
}
