import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { oldRows } from "@parley/shared/jobs/old-rows";
import type { Feature } from "@parley/shared/process/feature";
import { registered } from "@parley/shared/rpc/registration";
import type { AgentContext } from "../context.ts";
import { cancelTestRun } from "./rpc/cancel-test-run.ts";
import { createReplay } from "./rpc/create-replay.ts";
import { createTest } from "./rpc/create-test.ts";
import { createTestFromConversation } from "./rpc/create-test-from-conversation.ts";
import { deleteTest } from "./rpc/delete-test.ts";
import { getTest } from "./rpc/get-test.ts";
import { getReplay, getTestRun } from "./rpc/get-test-run.ts";
import { listReplays, listTestRuns } from "./rpc/list-test-runs.ts";
import { listTests } from "./rpc/list-tests.ts";
import { runTests } from "./rpc/run-tests.ts";
import { updateTest } from "./rpc/update-test.ts";
import { watchTestRun } from "./rpc/watch-test-run.ts";
import { testLanes } from "./runs/lanes.ts";
import { OLD_PASSES } from "./store/passes.ts";
import { OLD_RUNS } from "./store/runs.ts";

/** Tests of agents: their runs, the gate of publishing, and replays. */
export function agentTests(ctx: AgentContext, stopping: AbortSignal): Feature<typeof AgentServiceService> {
  return {
    handlers: {
      createTest: createTest(ctx),
      createTestFromConversation: createTestFromConversation(ctx),
      getTest: getTest(ctx),
      listTests: registered(listTests(ctx), { isList: true }),
      updateTest: updateTest(ctx),
      deleteTest: deleteTest(ctx),
      runTests: runTests(ctx),
      getTestRun: registered(getTestRun(ctx), { isList: true }),
      listTestRuns: registered(listTestRuns(ctx), { isList: true }),
      cancelTestRun: cancelTestRun(ctx),
      watchTestRun: watchTestRun(ctx),
      createReplay: createReplay(ctx),
      getReplay: registered(getReplay(ctx), { isList: true }),
      listReplays: registered(listReplays(ctx), { isList: true }),
    },
    queues: testLanes(ctx, stopping),
    sweeps: [oldRows(ctx.db, "delete-old-test-runs", 60 * 60_000, [OLD_RUNS, OLD_PASSES])],
  };
}
