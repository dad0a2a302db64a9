import { AnalyzeConversationResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { enqueueJob } from "@parley/shared/jobs/store";
import { isGone } from "../agents/agents.ts";
import { analysisJob, analyzingAgent } from "../analysis/ask.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";
import type { ConversationRow } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { hasUserMessage } from "../store/transcript-ends.ts";

/** Analyzes an ended conversation again in the background; the old analysis stays until the new one replaces it. */
export function analyzeConversation(ctx: ConversationContext): Handler<"analyzeConversation"> {
  return (request, call) => {
    const { ownerId, idempotency } = request;
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: AnalyzeConversationResponse, call },
      {
        prepare: () => readAnalyzable(ctx, request),
        write: async (tx, conversation) => {
          await enqueueJob(tx, analysisJob(conversation, ctx.clock.now(), true));
          return {};
        },
      },
    );
  };
}

/** @throws ServiceError condition when there is nothing to analyze, or no analysis configured */
async function readAnalyzable(ctx: ConversationContext, key: SessionKey): Promise<SessionKey> {
  const row = await readConversation(ctx, key, "Conversation");
  if (row.status === "IN_PROGRESS") throw condition("Conversation is in progress: it can be analyzed after it ends");
  if (!(await isAnalyzing(ctx, row))) throw condition("Agent has no analysis: set call_analysis_enabled on it first");
  if (!(await hasUserMessage(ctx.db, row)))
    throw condition("Conversation has nothing to analyze: its user said nothing");
  return row;
}

async function isAnalyzing(ctx: ConversationContext, row: ConversationRow): Promise<boolean> {
  try {
    return (await analyzingAgent(ctx, row, true)).analysis?.enabled ?? false;
  } catch (error) {
    if (isGone(error))
      throw condition(`The conversation's ${row.draftId === null ? "agent was deleted" : "draft is no longer kept"}`);
    throw error;
  }
}

function condition(detail: string): ServiceError {
  return new ServiceError("condition", detail);
}
