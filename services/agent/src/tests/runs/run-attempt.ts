import { newUuid } from "@parley/shared/ids";
import type { AgentContext } from "../../context.ts";
import { replayConversation } from "../replays/replay.ts";
import { attemptPassed } from "../score.ts";
import type { EndedAttempt } from "../store/attempts.ts";
import { type Attempt, assertAll, holdAttempt, type Progress } from "./attempt.ts";
import type { Begun } from "./begun.ts";
import { storePaid } from "./end.ts";
import { testLlm } from "./models.ts";
import { shownTranscript } from "./shown.ts";

interface Running extends Begun {
  signal: AbortSignal;
  /** @throws when the attempt is no longer wanted */
  check(): Promise<void>;
  /** A judge or a simulated user is about to be asked. @throws like `check` */
  asks(): Promise<void>;
  so: Progress;
}

/** Holds the conversation of an attempt and tells how it ended. @throws ServiceError when it could not be held */
export async function runAttempt(ctx: AgentContext, running: Running): Promise<EndedAttempt> {
  const { attempt, run, token, signal, check, asks, so } = running;
  const { ownerId, agentId, agentVersion, runId } = run;
  const held: Attempt = {
    ownerId,
    agentId,
    agentVersion,
    runId,
    conversationId: token,
    definition: attempt.definition,
    once: false,
    origin: { requestId: newUuid(), signal },
    so,
    check,
    asks,
    paid: (cost) => storePaid(ctx, { ...attempt, token }, cost),
    llmOf: (model) => testLlm(ctx, run, model),
  };
  if (run.isReplay) return replayConversation(ctx, held, attempt.testId);
  const { assertions } = attempt.definition;
  const wantsAnalysis = assertions.some(({ type }) => type === "analysis");
  const finished = await holdAttempt(ctx, held, wantsAnalysis);
  const results = await assertAll(assertions, finished);
  return {
    status: attemptPassed(results) ? "PASSED" : "FAILED",
    conversationId: so.conversationId,
    outcome: { transcript: shownTranscript(finished.conversation), assertions: results },
  };
}
