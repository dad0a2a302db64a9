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
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { type Toolbox, toolboxOf } from "../tools/toolbox.ts";
import { filledGreeting, filledPrompt } from "../turn/ask/filled-texts.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["getCallSetup"]>;

/**
 * Returns the settings that a voice runtime needs to speak for an agent. Stores nothing and may be called at any time.
 * @throws ServiceError conflict if the call's conversation could not begin, because the owner has no room for it
 */
export function getCallSetup(ctx: ConversationContext): Handler {
  return async ({ ownerId, agentId, dynamicVariables = {}, draftId }, { log }) => {
    const variables = callVariables(dynamicVariables);
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
      toolDefinitions: toolDefinitions(toolboxOf(agent, "call", ctx.toolSources)),
      language: spokenLanguage(agent),
    };
  };
}

function toolDefinitions({ definitions, find }: Toolbox): ToolDefinition[] {
  return definitions.map(({ name, description, inputSchema }) => {
    const rules = find(name)?.rules;
    return {
      name,
      description,
      parameters: inputSchema as Record<string, unknown>,
      ...(rules && { rules: toRules(rules) }),
    };
  });
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
