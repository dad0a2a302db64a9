import type { AgentRuntime, LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type {
  ConversationServiceService,
  ToolDefinition,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { Handlers } from "@parley/shared/rpc/server";
import { toRules } from "../calls/call-action.ts";
import { callVariables } from "../calls/new-call.ts";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { handoffTool } from "../tools/handoff-tool.ts";
import { failed, type Tool } from "../tools/tool.ts";
import { toolboxOf } from "../tools/toolbox.ts";
import { filledGreeting, filledPrompt } from "../turn/ask/filled-texts.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getCallSetup"]>;

/**
 * Returns the settings that a voice runtime needs to speak for an agent. Stores nothing and may be called at any time.
 * @throws ServiceError conflict if the call's conversation could not begin, because the owner has no room for it
 */
export function getCallSetup(ctx: ConversationContext): Handler {
  return async ({ ownerId, agentId, dynamicVariables = {}, draftId, conversationId }, { log }) => {
    const variables =
      conversationId === undefined
        ? callVariables(dynamicVariables)
        : (await readCall(ctx, { ownerId, conversationId })).variables;
    const agent = await ctx.getAgent(ownerId, agentId, draftId);
    ctx.room.refuseFull(ownerId);
    return {
      agentName: agent.agentName,
      agentType: agent.agentType,
      prompt: filledPrompt(agent, variables),
      greeting: filledGreeting(agent, variables),
      stt: agent.stt,
      tts: agent.tts,
      sts: agent.sts,
      llm: agent.llm && withoutKey(agent.llm),
      llmFault: llmFault(ctx, ownerId, agent, log),
      tools: agent.tools,
      callSettings: agent.callSettings,
      recording: agent.recording,
      toolDefinitions: [...toolDefinitions(ctx, agent), ...handoffDefinitions(agent)],
      language: spokenLanguage(agent),
    };
  };
}

function toolDefinitions({ toolSources }: Pick<ConversationContext, "toolSources">, agent: AgentRuntime) {
  const { definitions, find } = toolboxOf(agent, "call", toolSources);
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
