import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../../context.ts";
import { getRun } from "../read-tests.ts";
import { toTestRun } from "../runs/to-run.ts";
import { listAttempts } from "../store/attempts.ts";

type All = Handlers<typeof AgentServiceService>;

export function getTestRun({ db }: AgentContext): NonNullable<All["getTestRun"]> {
  return async ({ testId, ...key }) => {
    const run = await getRun(db, { ...key, isReplay: false });
    return { run: toTestRun(run, await listAttempts(db, run.ownerId, run.runId, testId)) };
  };
}

export function getReplay({ db }: AgentContext): NonNullable<All["getReplay"]> {
  return async ({ ownerId, agentId, replayId, conversationId }) => {
    const run = await getRun(db, { ownerId, agentId, runId: replayId, isReplay: true });
    return { replay: toTestRun(run, await listAttempts(db, ownerId, replayId, conversationId)) };
  };
}
