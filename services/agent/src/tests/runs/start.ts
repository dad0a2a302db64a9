import type { Sql } from "@parley/shared/db/database";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import type { AgentContext } from "../../context.ts";
import { withinAgentRoom } from "../../room.ts";
import { insertAttempts, type NewAttempt } from "../store/attempts.ts";
import { countOpenRuns, deleteSurplusRuns, insertRun, type RunRow } from "../store/runs.ts";
import type { TestRow } from "../store/tests.ts";
import { enqueueLanes } from "./lanes.ts";

/** Runs of an owner that have not ended. */
const OPEN_MAX = 10;
/** Of an agent, runs and replays each, of those that have ended. */
const KEPT_MAX = 50;

export type NewRun = Omit<RunRow, "status" | "error" | "cost" | "unpricedReplies" | "revision" | "endedAt">;

/** Stores a run and has it begin. @throws ServiceError conflict while the owner has many that have not ended, or no room */
export async function startRun(
  ctx: AgentContext,
  tx: Sql,
  given: NewRun,
  attempts: readonly NewAttempt[],
): Promise<RunRow> {
  const run: RunRow = {
    ...given,
    status: "QUEUED",
    error: null,
    cost: 0,
    unpricedReplies: 0,
    revision: 0,
    endedAt: null,
  };
  await withinAgentRoom(tx, ctx, run.ownerId, async () => {
    if ((await countOpenRuns(tx, run.ownerId)) >= OPEN_MAX) {
      const detail = `${OPEN_MAX} runs and replays of yours have not ended: wait for one, or cancel it`;
      throw new ServiceError("conflict", detail);
    }
    await deleteSurplusRuns(tx, run, KEPT_MAX - 1);
    await insertRun(tx, run);
    await insertAttempts(tx, attempts);
  });
  await enqueueLanes(tx, run.ownerId, run.createdAt);
  return run;
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
