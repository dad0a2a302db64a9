import { type AgentRuntime, StartFailure, type StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Channel } from "@parley/shared/domain/channels";
import { startFailure } from "@parley/shared/domain/start-webhook";
import { notFound, ServiceError } from "@parley/shared/errors";
import { type Caller, callerOf } from "../agents/choose-version.ts";
import type { ConversationContext } from "../context.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { type AnsweredStart, beginUnasked, claimStart, type Start, storeStart } from "../store/start.ts";
import { type AskedStart, askStartWebhook } from "./ask.ts";
import { circumstancesOf } from "./system-values.ts";
import { systemVariables } from "./system-variables.ts";

type StartContext = Pick<ConversationContext, "db" | "clock" | "agents" | "httpTools">;

/** The start webhook that is asked about an agent's conversations on a channel; null if none is. */
export function startWebhookOf({ startWebhook }: AgentRuntime, channel: Channel): StartWebhook | null {
  const { channels = [] } = startWebhook ?? {};
  return startWebhook && (channels.length === 0 || channels.includes(channel)) ? startWebhook : null;
}

/**
 * Asks the agent's start webhook about a conversation that begins, if it has one for its channel. It is asked once: if the process that
 * asked is gone, there is no answer.
 * @returns the conversation as it begins
 * @throws ServiceError upstream_failed, which `isStartFailure`, if the conversation may not begin and has ended
 */
export async function startOnce(
  ctx: StartContext,
  before: ConversationRow,
  agent: AgentRuntime,
): Promise<ConversationRow> {
  const of = await circumstancesOf(ctx, before, agent);
  const webhook = startWebhookOf(agent, of.channel);
  if (!webhook) {
    if (before.isStarting && before.start?.say === undefined) await beginUnasked(ctx.db, before, ctx.clock.now());
    return before;
  }
  const askedAt = ctx.clock.now();
  if (await claimStart(ctx.db, before, { askedAt: askedAt.toISOString(), withinMs: webhook.timeoutMs })) {
    const { variables, metadata, ownerId, conversationId } = before;
    const asked = await askStartWebhook(ctx.httpTools, {
      ...{ ownerId, agent, webhook, of, metadata, dynamicVariables: variables },
      variables: { ...variables, ...systemVariables(of, askedAt) },
      webhookId: `start_${conversationId}`,
    });
    const answered = await answeredStart(ctx, before, webhook, asked);
    await storeStart(ctx.db, before, answered, ctx.clock.now());
  }
  return untilKnown(ctx, before, webhook);
}

/** What is stored of the answer. An agent that it names must be one of the owner's. */
async function answeredStart(
  ctx: StartContext,
  row: ConversationRow,
  webhook: StartWebhook,
  { answer, outcome }: AskedStart,
): Promise<AnsweredStart> {
  if (!answer) return unanswered(webhook, outcome);
  const named = answer.agentId ?? row.agentId;
  const other = named === row.agentId ? null : await namedAgent(ctx, row.ownerId, named, callerOf(row));
  if (typeof other === "string") return unanswered(webhook, { ...outcome, error: other });
  const { variables, metadata, firstMessage, language, voiceId, say } = answer;
  const start = {
    outcome,
    ...(firstMessage !== null && { firstMessage }),
    ...(language !== null && { language }),
    ...(voiceId !== null && { voiceId }),
    ...(say !== null && { say }),
  };
  return { start, variables, metadata, agent: other };
}

function unanswered({ onFailure }: StartWebhook, outcome: NonNullable<Start["outcome"]>): AnsweredStart {
  const isRefused = onFailure === StartFailure.START_FAILURE_REJECT;
  const refusal = `The agent's start webhook failed: ${outcome.error}`;
  return { start: { outcome, ...(isRefused && { refusal }) }, variables: {}, metadata: {}, agent: null };
}

/** The agent that an answer names, or why it cannot be used. */
export async function namedAgent(
  { agents }: Pick<ConversationContext, "agents">,
  ownerId: string,
  agentId: string,
  caller: Caller,
): Promise<AgentRuntime | string> {
  try {
    return await agents.choose(ownerId, agentId, { caller });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.kind === "not_found" || error.kind === "forbidden") return "agent_id must be one of your agents";
    if (error.kind === "conflict") return `agent_id: ${error.detail}`;
    throw error;
  }
}

/** How long after its limit an answer may still be stored. */
const STORED_WITHIN_MS = 1_000;
const LOOK_MS = 50;

/** Waits for what another process has asked; if that is gone, there is no answer. */
async function untilKnown(ctx: StartContext, key: SessionKey, webhook: StartWebhook): Promise<ConversationRow> {
  for (;;) {
    const row = await findConversation(ctx.db, key, ctx.clock.now());
    if (!row) throw notFound("Conversation");
    const { start } = row;
    if (start?.refusal !== undefined) throw startFailure(start.refusal, row.conversationId);
    if (!start || start.outcome || row.status !== "IN_PROGRESS") return row;
    const now = ctx.clock.now();
    const durationMs = now.getTime() - Date.parse(start.askedAt);
    if (durationMs > start.withinMs + STORED_WITHIN_MS) {
      const outcome = { status: null, durationMs, error: "The process that asked stopped before there was an answer" };
      await storeStart(ctx.db, key, unanswered(webhook, outcome), now);
    } else {
      await Bun.sleep(LOOK_MS);
    }
  }
}
