import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { holdsJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { isGone } from "../agents/agents.ts";
import type { ConversationContext } from "../context.ts";
import { type AnalysisItem, type ConversationRow, findConversation, storeAnalysis } from "../store/conversations.ts";
import { insertEvent, releaseEnd } from "../store/events/owner-events.ts";
import type { SessionKey } from "../store/session-key.ts";
import { hasUserMessage, readTranscriptEnds } from "../store/transcript-ends.ts";
import { analyze } from "./analyze.ts";
import { failedItems } from "./answer.ts";
import { ANALYSIS_QUEUE, type AnalysisPayload, analyzingAgent } from "./ask.ts";
import { type AnalysisShares, analysisShares } from "./bytes.ts";
import { analysisFields } from "./fields.ts";
import { transcriptBounds } from "./request.ts";

/** Delay after each failed run. The last one repeats, which happens only while another service is down. */
const DELAYS_MS: readonly number[] = [5_000, 30_000, 120_000, 300_000];
/** Attempts to get an answer from the model. */
const ATTEMPTS_MAX = 4;

/** The queue that analyzes ended conversations, several at a time. */
export function analysisQueue(ctx: ConversationContext, log: Logger): Record<string, Queue> {
  const shares = analysisShares(ctx.limits);
  return {
    [ANALYSIS_QUEUE]: {
      concurrency: ctx.limits.analysesAtOnce,
      perOwner: ctx.limits.analysesPerOwner,
      retryDelayMs: (attempts) => DELAYS_MS[attempts - 1] ?? 300_000,
      run: (job) => runJob(ctx, log, shares, job as Job<AnalysisPayload>),
    },
  };
}

async function runJob(
  ctx: ConversationContext,
  log: Logger,
  shares: AnalysisShares,
  job: Job<AnalysisPayload>,
): Promise<void> {
  const { db, clock } = ctx;
  const key: SessionKey = { ownerId: job.ownerId, conversationId: job.payload.conversationId };
  const hold = await shares.hold(key.ownerId, ctx.turns.cutOff);
  try {
    const items = await itemsOf(ctx, log, key, job);
    await db.begin(async (tx) => {
      if (!(await holdsJob(tx, job))) return;
      const now = clock.now();
      if (items) await storeAnalysis(tx, key, items, now);
      const isToldWithEnd = await releaseEnd(tx, key, now);
      if (items && !isToldWithEnd) await insertEvent(tx, { ...key, event: "conversation.analyzed", happenedAt: now });
    });
  } finally {
    hold.release();
  }
}

/**
 * Returns null when there is nothing left to analyze or the analysis is no longer wanted.
 * @throws errors that a later run may not hit
 */
async function itemsOf(
  ctx: ConversationContext,
  log: Logger,
  key: SessionKey,
  { attempts, payload }: Job<AnalysisPayload>,
): Promise<AnalysisItem[] | null> {
  const row = await findConversation(ctx.db, key, ctx.clock.now());
  const agent = row && (await findAnalyzingAgent(ctx, row, payload.isAgain ?? false));
  if (!agent || !(await hasUserMessage(ctx.db, key))) return null;
  const messages = await readTranscriptEnds(ctx.db, key, transcriptBounds(ctx.limits.contextTokens));
  const fields = analysisFields(agent.analysis?.schema);
  try {
    return await analyze(ctx, log, agent, fields, row, messages);
  } catch (error) {
    if (!isFinal(error, attempts)) throw error;
    log.warn({ owner_id: key.ownerId, conversation_id: key.conversationId, err: error }, "gave up on an analysis");
    return failedItems(fields, error.detail);
  }
}

async function findAnalyzingAgent(
  ctx: ConversationContext,
  row: ConversationRow,
  isAgain: boolean,
): Promise<AgentRuntime | null> {
  try {
    const agent = await analyzingAgent(ctx, row, isAgain);
    return agent.analysis?.enabled ? agent : null;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** A failed condition does not change by itself, and a model gets only a few attempts; any other error passes. */
function isFinal(error: unknown, attempts: number): error is ServiceError {
  if (!(error instanceof ServiceError)) return false;
  if (error.kind === "condition") return true;
  return ["upstream_failed", "upstream_timeout"].includes(error.kind) && attempts >= ATTEMPTS_MAX;
}
