import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Channel } from "@parley/shared/domain/channels";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { ConversationContext } from "../context.ts";
import type { TypeName } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { type Facts, findFacts } from "../store/start.ts";
import { type Circumstances, systemVariables } from "./system-variables.ts";

type Values = Readonly<Record<string, VariableValue>>;

/**
 * The system variables of a conversation at this moment, as the agent's texts and tools can use them; none for an agent that mentions
 * none.
 * @param known of a conversation that is yet to begin
 */
export async function systemValues(
  ctx: Pick<ConversationContext, "db" | "clock">,
  key: SessionKey,
  agent: AgentRuntime,
  known: Partial<Facts> = {},
): Promise<Values> {
  if (!mentionsSystem(agent)) return {};
  return systemVariables(await circumstancesOf(ctx, key, agent, known), ctx.clock.now());
}

/** A conversation as it stands. @param known of one that is yet to begin */
export async function circumstancesOf(
  { db }: Pick<ConversationContext, "db">,
  key: SessionKey,
  agent: Pick<AgentRuntime, "agentId" | "timezone">,
  known: Partial<Facts> = {},
): Promise<Circumstances> {
  const found = await findFacts(db, key);
  const { type, isWidget, callingType, fromMobileNumber, toMobileNumber, beganAt } =
    found.type === null ? { ...found, ...known } : found;
  return {
    conversationId: key.conversationId,
    agentId: agent.agentId,
    channel: channelOf(type ?? "CHAT", isWidget ?? false),
    direction: callingType === "OUTBOUND" ? "outbound" : "inbound",
    caller: fromMobileNumber ?? "",
    called: toMobileNumber ?? "",
    timezone: agent.timezone ?? found.timezone ?? "UTC",
    beganAt: type === "CHAT" || type === "WHATSAPP" ? null : beganAt,
  };
}

export function channelOf(type: TypeName, isWidget = false): Channel {
  return isWidget ? "widget" : CHANNEL_OF[type];
}

const CHANNEL_OF: Readonly<Record<TypeName, Channel>> = {
  CHAT: "chat",
  WEB: "web",
  TELEPHONY: "telephony",
  DAILY: "daily",
  WHATSAPP: "whatsapp",
};

/** An agent stays the same object for many turns, and its texts may be long. */
const known = new WeakMap<AgentRuntime, boolean>();

function mentionsSystem(agent: AgentRuntime): boolean {
  const before = known.get(agent);
  if (before !== undefined) return before;
  const { prompt, firstMessagePrompt, analysisPrompt, tools, customTools } = agent;
  const texts = JSON.stringify([prompt, firstMessagePrompt, analysisPrompt, tools, customTools]);
  const mentions = texts.normalize("NFKC").toLowerCase().includes("system");
  known.set(agent, mentions);
  return mentions;
}
