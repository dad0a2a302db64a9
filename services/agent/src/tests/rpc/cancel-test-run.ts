import { CancelTestRunResponse } from "@parley/proto/parley/agent/v1/test.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { isId } from "@parley/shared/ids";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext, Handler } from "../../context.ts";
import { runsEnded } from "../metrics.ts";
import { getRun } from "../read-tests.ts";
import { toTestRun } from "../runs/to-run.ts";
import { cancelAttempts, listAttemptSummaries } from "../store/attempts.ts";
import { lockRun, updateRun } from "../store/runs.ts";

/** A run or a replay. Its conversations end before their next turn. One that has ended stays as it is. */
export function cancelTestRun(ctx: AgentContext): Handler<"cancelTestRun"> {
  return async (request, call) => {
    const { ownerId, runId, idempotency } = request;
    return runIdempotent(ctx, { ownerId, idempotency, codec: CancelTestRunResponse, call }, async (tx) => {
      await lockStoredBytes(tx, ownerId);
      const key = { ...request, isReplay: isId("rpl", runId) };
      await getRun(tx, key);
      const run = await lockRun(tx, request);
      const now = ctx.clock.now();
      if (run && run.endedAt === null) {
        const status = "CANCELLED";
        await cancelAttempts(tx, run, { alsoRunning: true, now });
        await updateRun(tx, { ...run, status, endedAt: now });
        runsEnded().add(1, { status, kind: run.isReplay ? "replay" : "tests" });
      }
      return { run: toTestRun(await getRun(tx, key), await listAttemptSummaries(tx, request)) };
    });
  };
}
