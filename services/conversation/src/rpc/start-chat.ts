import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { collectValues } from "@parley/shared/domain/variables/values";
import { notFound } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import { callerOf } from "../agents/choose-version.ts";
import { callVariables } from "../calls/new-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { greetingOf } from "../start/greeting.ts";
import { startOnce, startWebhookOf } from "../start/start-once.ts";
import { storedTest } from "../start/test-setup.ts";
import { keptOf, versionOf } from "../store/agent-path.ts";
import { findConversation, insertGreetedSession } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { storeFirstWords } from "../store/start.ts";

export function startChat(ctx: ConversationContext): Handler<"startChat"> {
  return async ({ ownerId, agentId, metadata = {}, draftId, agentVersion, latestVersion, test, sessionId }) => {
    const key = { ownerId, conversationId: sessionId ?? newUuid() };
    const caller = callerOf({ ...key, metadata });
    const agent = await ctx.agents.choose(ownerId, agentId, { draftId, agentVersion, latestVersion, caller });
    ctx.room.refuseFull(ownerId);
    const variables = { ...collectValues(metadata), ...callVariables(test?.dynamicVariables ?? {}) };
    const isAsked = !test && startWebhookOf(agent, "chat") !== null;
    const greeting = isAsked ? "" : await greetingOf(ctx, { ...key, variables, start: null }, agent, { type: "CHAT" });
    await insertGreetedSession(ctx.db, {
      ...key,
      id: newId("cnv"),
      agentId,
      agentVersion: versionOf(agent),
      draftId: draftId ?? null,
      test: test ? storedTest(test) : null,
      greeting,
      isStarting: isAsked,
      metadata,
      variables,
      now: ctx.clock.now(),
    });
    const firstMessage = isAsked ? await askedGreeting(ctx, key, agent) : greeting;
    return { sessionId: key.conversationId, firstMessage };
  };
}

/** Asks the start webhook, and stores the first words of whoever it says. @throws ServiceError as `startOnce` does */
async function askedGreeting(ctx: ConversationContext, key: SessionKey, agent: AgentRuntime): Promise<string> {
  const opened = await findConversation(ctx.db, key, ctx.clock.now());
  if (!opened) throw notFound("Session");
  const row = await startOnce(ctx, opened, agent);
  const speaks = row.askedAgentId === null ? agent : await ctx.agents.get(row.ownerId, row.agentId, keptOf(row));
  const text = await greetingOf(ctx, row, speaks);
  await storeFirstWords(ctx.db, key, { text, isLast: row.start?.say !== undefined }, ctx.clock.now());
  return text;
}
