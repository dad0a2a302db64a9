import { RunTestsResponse } from "@parley/proto/parley/agent/v1/test.ts";
import { TEST_LIMITS } from "@parley/shared/domain/tests";
import { invalid } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getVersion } from "../../read-agents.ts";
import { LATEST } from "../../store/versions.ts";
import { chosenTests, startRun } from "../runs/start.ts";
import { passKey } from "../score.ts";
import { listTestRows } from "../store/tests.ts";

export function runTests(ctx: AgentContext): Handler<"runTests"> {
  return async (request, call) => {
    const { ownerId, agentId, idempotency } = request;
    checkAgentId(agentId);
    return runIdempotent(ctx, { ownerId, idempotency, codec: RunTestsResponse, call }, async (tx) => {
      const version = await getVersion(tx, request, request.agentVersion ?? LATEST);
      const tests = chosenTests(await listTestRows(tx, request), request.tests);
      const attempts = tests.flatMap(({ testId, name, required, definition }) =>
        Array.from({ length: definition.repeat }, (_, at) => ({
          ...{ testId, name, required, definition, attempt: at + 1 },
          passKey: passKey(version.hash, definition),
        })),
      );
      if (attempts.length > TEST_LIMITS.conversations)
        throw invalid(
          "tests",
          `tests would have ${attempts.length} conversations with their repeats, and a run has at most ${TEST_LIMITS.conversations}: choose fewer`,
        );
      return { run: await startRun(ctx, tx, request, version, { isReplay: false, actor: call.actor }, attempts) };
    });
  };
}
