import type { AgentRuntime, LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetCallSetupRequest, ToolDefinition } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CALLING_TYPES, CONVERSATION_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { ServiceError } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import type { Logger } from "@parley/shared/log";
import { callerOf } from "../agents/choose-version.ts";
import { toRules } from "../calls/call-action.ts";
import { callVariables } from "../calls/new-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { runtimeKnowledge } from "../knowledge/agent-knowledge.ts";
import { llmOf } from "../model/select.ts";
import { greetingOf } from "../start/greeting.ts";
import { startWebhookOf } from "../start/start-once.ts";
import { circumstancesOf, systemValues } from "../start/system-values.ts";
import { agentPathOf, keptOf, versionOf } from "../store/agent-path.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";
import type { Facts, Start } from "../store/start.ts";
import { handoffTool } from "../tools/handoff-tool.ts";
import { failed, type Tool } from "../tools/tool.ts";
import { toolboxOf } from "../tools/toolbox.ts";
import { filledPrompt } from "../turn/ask/filled-texts.ts";

/**
 * Returns the settings that a voice runtime needs to speak for an agent. Stores nothing and may be called at any time.
 * @throws ServiceError conflict if the call's conversation could not begin, because the owner has no room for it
 */
export function getCallSetup(ctx: ConversationContext): Handler<"getCallSetup"> {
  return async (request, { log }) => {
    const { ownerId, agentId, dynamicVariables = {}, conversationId = "" } = request;
    const key = { ownerId, conversationId };
    const row = isUuid(conversationId) ? await findConversation(ctx.db, key, ctx.clock.now()) : null;
    const variables = row?.variables ?? callVariables(dynamicVariables);
    const start = row?.agentId === agentId ? row.start : null;
    const agent = await agentOf(ctx, request, row);
    ctx.room.refuseFull(ownerId);
    const known = factsOf(request);
    const values = { ...variables, ...(await systemValues(ctx, key, agent, known)) };
    // Others are asked here, where each turn gathers what its agent knows.
    const asksItself = agent.sts !== undefined;
    const knowledge = asksItself ? await runtimeKnowledge(ctx.knowledge, { ownerId, agent }, log) : null;
    const isAsked = !row?.start && agent.startWebhook !== undefined;
    const webhook = isAsked ? startWebhookOf(agent, (await circumstancesOf(ctx, key, agent, known)).channel) : null;
    return {
      agentName: agent.agentName,
      agentType: agent.agentType,
      prompt: [filledPrompt(agent, values), knowledge?.prompt].filter(Boolean).join("\n\n"),
      greeting: await greetingOf(ctx, { ...key, variables, start }, agent, known),
      ...speechOf(agent, start),
      llm: agent.llm && withoutKey(agent.llm),
      llmFault: llmFault(ctx, ownerId, agent, log),
      tools: agent.tools,
      callSettings: agent.callSettings,
      recording: agent.recording,
      toolDefinitions: [...toolDefinitions(ctx, agent, knowledge?.tools ?? []), ...handoffDefinitions(agent)],
      language: start?.language ?? spokenLanguage(agent),
      startWebhookMs: webhook?.timeoutMs ?? 0,
      isRejected: start?.say !== undefined,
      agentVersion: versionOf(agent) ?? undefined,
    };
  };
}

/** The agent as it has held the call, or else as it would begin, or take over, now. */
function agentOf(
  ctx: ConversationContext,
  request: GetCallSetupRequest,
  row: ConversationRow | null,
): Promise<AgentRuntime> {
  const { ownerId, agentId, draftId, agentVersion, latestVersion, conversationId = "", userId } = request;
  const hasHeld = row !== null && agentPathOf(row).some((held) => held.agentId === agentId);
  if (hasHeld) return ctx.agents.get(ownerId, agentId, keptOf(row, agentId));
  const caller = callerOf(row ?? { ...factsOf(request), conversationId, metadata: { user_id: userId } });
  return ctx.agents.choose(ownerId, agentId, { draftId, agentVersion, latestVersion, caller });
}

/** How the agent hears and speaks, as its start webhook wants it. */
function speechOf({ stt, tts, sts }: AgentRuntime, start: Start | null): Pick<AgentRuntime, "stt" | "tts" | "sts"> {
  const language = start?.language === undefined ? {} : { language: start.language };
  const voice = start?.voiceId === undefined ? {} : { voiceId: start.voiceId };
  return {
    stt: stt && { ...stt, ...language },
    tts: tts && { ...tts, ...language, ...voice },
    sts: sts && { ...sts, ...language, ...voice },
  };
}

function factsOf(request: GetCallSetupRequest): Partial<Facts> {
  const { type = 0, callingType = 0 } = request;
  return {
    type: nameOf(CONVERSATION_TYPES, type) ?? "WEB",
    callingType: nameOf(CALLING_TYPES, callingType) ?? null,
    toMobileNumber: request.toMobileNumber ?? null,
    fromMobileNumber: request.fromMobileNumber ?? null,
  };
}

function toolDefinitions(
  { toolSources }: Pick<ConversationContext, "toolSources">,
  agent: AgentRuntime,
  search: readonly Tool[],
) {
  const { definitions, find } = toolboxOf(agent, "call", [() => search, ...toolSources]);
  return definitions.map(({ name }) => definitionOf(find(name) as Tool));
}

/** Only a model that hears and speaks is asked by the runtime and hands over. */
function handoffDefinitions({ sts, handoffs }: AgentRuntime): ToolDefinition[] {
  if (!sts) return [];
  return handoffs.map((handoff) => ({
    ...definitionOf(handoffTool(handoff, async () => failed(""))),
    handsOverTo: handoff.agentId,
  }));
}

function definitionOf({ definition: { name, description, inputSchema }, rules }: Tool): ToolDefinition {
  return {
    ...{ name, description, parameters: inputSchema as Record<string, unknown>, handsOverTo: undefined },
    ...(rules && { rules: toRules(rules) }),
  };
}

/** The model is not asked here: only a missing key is found. */
function llmFault(
  ctx: Pick<ConversationContext, "selectModel">,
  ownerId: string,
  agent: AgentRuntime,
  log: Logger,
): string | undefined {
  if (!agent.llm) return undefined;
  try {
    ctx.selectModel(ownerId, llmOf(agent), log);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "condition") return error.detail;
    throw error;
  }
}

function withoutKey({ params, fallbacks, ...llm }: LlmConfig): LlmConfig {
  return {
    ...llm,
    params: params && { ...params, apiKey: undefined },
    fallbacks: fallbacks.map(withoutKey),
  };
}

function spokenLanguage({ sts, tts, stt }: AgentRuntime): string | undefined {
  return sts?.language ?? tts?.language ?? stt?.language;
}
