import type { AgentContext, Handler } from "../../context.ts";
import { getRun } from "../read-tests.ts";
import { toTestRun } from "../runs/to-run.ts";
import { listAttempts } from "../store/attempts.ts";

export function getTestRun({ db }: AgentContext): Handler<"getTestRun"> {
  return async ({ testId, ...key }) => {
    const run = await getRun(db, { ...key, isReplay: false });
    return { run: toTestRun(run, await listAttempts(db, run.ownerId, run.runId, testId)) };
  };
}

export function getReplay({ db }: AgentContext): Handler<"getReplay"> {
  return async ({ ownerId, agentId, replayId, conversationId }) => {
    const run = await getRun(db, { ownerId, agentId, runId: replayId, isReplay: true });
    return { replay: toTestRun(run, await listAttempts(db, ownerId, replayId, conversationId)) };
  };
}
