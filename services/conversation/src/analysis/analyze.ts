import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { NEVER_GONE } from "@parley/shared/shares/few-at-once";
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { watchModel } from "../model/watch.ts";
import { systemValues } from "../start/system-values.ts";
import type { AnalysisItem, ConversationRow } from "../store/conversations.ts";
import type { EndMessage } from "../store/transcript-ends.ts";
import { readAnswer } from "./answer.ts";
import type { AnalysisField } from "./fields.ts";
import { analysisRequest } from "./request.ts";

/**
 * Analyzes an ended conversation once, with the agent's own model.
 * @throws ServiceError condition when the agent has no usable model or analysis prompt, upstream_failed or
 *   upstream_timeout when the model does not answer or its answer cannot be parsed, unavailable when this process stops
 */
export async function analyze(
  ctx: ConversationContext,
  log: Logger,
  agent: AgentRuntime,
  fields: readonly AnalysisField[],
  conversation: ConversationRow,
  messages: readonly EndMessage[],
): Promise<AnalysisItem[]> {
  const { limits, turns, selectAnalysisModel } = ctx;
  const llm = llmOf(agent);
  if (!agent.analysisPrompt)
    throw new ServiceError("condition", "The agent's analysis prompt no longer exists: choose another");
  const { ownerId: owner_id, conversationId: conversation_id } = conversation;
  const model = selectAnalysisModel(owner_id, llm, log.child({ owner_id, conversation_id }));
  const variables = { ...conversation.variables, ...(await systemValues(ctx, conversation, agent)) };
  const request = analysisRequest(agent, fields, { ...conversation, variables }, messages, limits.contextTokens);
  const startedAt = performance.now();
  const watch = watchModel(() => model.provider, limits.model, { clientGone: NEVER_GONE, cutOff: turns.cutOff });
  // The memory for the answer is reserved beforehand (bytes.ts).
  const meter = { ownerId: owner_id, received: () => {} };
  const asked = { ...request, meter, firstWordMs: limits.model.deadlineMs };
  const reply = await model.complete(asked, watch.signal).finally(watch.done);
  const items = readAnswer(fields, reply.text);
  if (!items) {
    throw new ServiceError(
      "upstream_failed",
      `The ${reply.by.provider} model's answer does not match the analysis schema`,
    );
  }
  log.info(
    {
      owner_id,
      conversation_id,
      provider: reply.by.provider,
      model: reply.by.name,
      input_tokens: reply.usage.inputTokens,
      output_tokens: reply.usage.outputTokens,
      total_ms: Math.round(performance.now() - startedAt),
      fields: items.length,
      fields_without_value: items.filter((item) => item.error !== undefined).length,
    },
    "conversation analyzed",
  );
  return items;
}
