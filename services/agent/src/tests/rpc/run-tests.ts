import { RunTestsResponse } from "@parley/proto/parley/agent/v1/test.ts";
import { TEST_LIMITS } from "@parley/shared/domain/tests";
import { invalid } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { actorText } from "@parley/shared/rpc/actor";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getVersion } from "../../read-agents.ts";
import { LATEST } from "../../store/versions.ts";
import { requirePrices } from "../runs/models.ts";
import { chosenTests, startRun } from "../runs/start.ts";
import { toTestRun } from "../runs/to-run.ts";
import { passKey } from "../score.ts";
import { listAttemptSummaries, type NewAttempt } from "../store/attempts.ts";
import { listTestRows } from "../store/tests.ts";

export function runTests(ctx: AgentContext): Handler<"runTests"> {
  return async (request, call) => {
    const { ownerId, agentId, idempotency, maxCostUsdMicros, allowUnpriced } = request;
    checkAgentId(agentId);
    return runIdempotent(ctx, { ownerId, idempotency, codec: RunTestsResponse, call }, async (tx) => {
      const { agentVersion, hash, row } = await getVersion(tx, request, request.agentVersion ?? LATEST);
      const tests = chosenTests(await listTestRows(tx, request), request.tests);
      if (maxCostUsdMicros !== undefined && !allowUnpriced)
        requirePrices(
          ctx,
          row,
          tests.map(({ definition }) => definition),
        );
      const runId = newId("run");
      const attempts = tests
        .flatMap(({ testId, name, required, definition }) =>
          Array.from({ length: definition.repeat }, (_, at) => ({
            testId,
            name,
            required,
            definition,
            passKey: passKey(hash, definition),
            attempt: at + 1,
          })),
        )
        .map((attempt, place): NewAttempt => ({ ownerId, runId, place, ...attempt }));
      if (attempts.length > TEST_LIMITS.conversations)
        throw invalid(
          "tests",
          `tests would have ${attempts.length} conversations with their repeats, and a run has at most ${TEST_LIMITS.conversations}: choose fewer`,
        );
      const run = await startRun(
        ctx,
        tx,
        {
          ...{ ownerId, agentId, runId, isReplay: false, agentVersion, versionHash: hash },
          maxCost: maxCostUsdMicros ?? null,
          createdBy: actorText(call.actor),
          createdAt: ctx.clock.now(),
        },
        attempts,
      );
      return { run: toTestRun(run, await listAttemptSummaries(tx, ownerId, [runId])) };
    });
  };
}
