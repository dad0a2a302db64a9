import type { TryStartWebhookResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CHANNELS } from "@parley/shared/domain/channels";
import { collectValues } from "@parley/shared/domain/variables/values";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { ConversationContext, Handler } from "../context.ts";
import { askStartWebhook } from "../start/ask.ts";
import { sampleOf } from "../start/sample.ts";
import { namedAgent } from "../start/start-once.ts";
import { systemVariables } from "../start/system-variables.ts";
import { shownRequest } from "./try-tool.ts";

const NUMBERS = { caller: "+14155550123", called: "+14155550100" };

/** Asks an agent's start webhook about a sample, for the owner who edits it. */
export function tryStartWebhook(ctx: ConversationContext): Handler<"tryStartWebhook"> {
  return async ({ ownerId, agentId, draftId, channel: given, metadata = {}, dynamicVariables: variables = {} }) => {
    const channel = CHANNELS.find((known) => known === given);
    const nobody = { conversationId: "" };
    if (!channel) throw invalid("channel", `channel must be one of ${CHANNELS.join(", ")}`);
    const agent = await ctx.agents.choose(ownerId, agentId, { draftId, caller: nobody });
    const { startWebhook: webhook, timezone = "UTC" } = agent;
    if (!webhook) throw new ServiceError("condition", "Agent has no start webhook: set start_webhook");
    const numbers = channel === "telephony" || channel === "whatsapp" ? NUMBERS : {};
    const of = sampleOf({ agentId, channel, timezone, ...numbers });
    const dynamicVariables = collectValues({ dynamic_variables: variables });
    const { request, outcome, answer, text } = await askStartWebhook(ctx.httpTools, {
      ...{ ownerId, agent, webhook, of, metadata, dynamicVariables },
      variables: { ...dynamicVariables, ...systemVariables(of, ctx.clock.now()) },
      webhookId: `try_${of.conversationId}`,
    });
    const named = answer?.agentId == null ? null : await namedAgent(ctx, ownerId, answer.agentId, nobody);
    const error = typeof named === "string" ? named : outcome.error;
    return {
      request: request ? shownRequest(request) : undefined,
      status: outcome.status ?? undefined,
      answer: text ?? undefined,
      durationMs: outcome.durationMs,
      error: error ?? undefined,
    } satisfies TryStartWebhookResponse;
  };
}
