import type {
  Agent,
  AgentKnowledge,
  DynamicVariable,
  LlmConfig,
  SpeechEndpoint,
  StartWebhook,
  StsConfig,
  SttConfig,
  TtsConfig,
} from "@parley/proto/parley/agent/v1/agent.ts";
import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import type { TryStartWebhookResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { AGENT_FIELDS, nullShownAs, plainAgentFields } from "@parley/shared/domain/agent-fields";
import { AGENT_TYPES, FIELD_TYPES, nameOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { KNOWLEDGE_MODES } from "@parley/shared/domain/knowledge";
import { isoTime } from "@parley/shared/domain/present/time";
import { presentHeaders, presentTriedRequest } from "@parley/shared/domain/present/tool";
import { HANDOFF_CONTEXTS, START_FAILURES } from "@parley/shared/domain/tools";
import { presentPricing } from "./prices.ts";

/** An agent as the API shows it (docs/api-reference.md#agents). */
export function presentAgent(agent: Agent) {
  const { analysis } = agent;
  return {
    id: agent.agentId,
    agent_name: agent.agentName,
    agent_type: nameOf(AGENT_TYPES, agent.agentType),
    ...presentPlainFields(agent),
    stt: agent.stt ? presentStt(agent.stt) : null,
    llm: agent.llm ? presentLlm(agent.llm) : null,
    tts: agent.tts ? presentTts(agent.tts) : null,
    ...(agent.sts && { sts: presentSts(agent.sts) }),
    custom_tools: agent.customTools.map(({ toolId }) => ({ tool_id: toolId })),
    handoffs: agent.handoffs.map(presentHandoff),
    knowledge: agent.knowledge.map(presentKnowledge),
    start_webhook: agent.startWebhook ? presentStartWebhook(agent.startWebhook) : null,
    call_analysis_enabled: analysis?.enabled ?? false,
    ...(analysis?.prompt && {
      call_analysis_prompt: {
        prompt_name: analysis.prompt.promptName,
        ...(analysis.prompt.promptVersion !== undefined && { prompt_version: analysis.prompt.promptVersion }),
        ...(analysis.prompt.promptLabel !== undefined && { prompt_label: analysis.prompt.promptLabel }),
      },
    }),
    ...(analysis?.schema && { call_analysis_schema: analysis.schema }),
    prompt: agent.prompt
      ? {
          prompt_name: agent.prompt.promptName,
          prompt_version: agent.prompt.promptVersion,
          ...(agent.promptLabel !== undefined && { prompt_label: agent.promptLabel }),
          prompt_content: agent.prompt.promptContent,
        }
      : null,
    prompt_pinned: agent.promptPinned,
    publishing: nameOf(PUBLISHINGS, agent.publishing),
    agent_version: agent.agentVersion,
    latest_version: agent.latestVersion,
    published_version: agent.publishedVersion ?? null,
    published_mobile_number: agent.publishedNumbers,
    dynamic_variables: agent.dynamicVariables,
    created_at: isoTime(agent.createdAt),
    updated_at: isoTime(agent.updatedAt),
  };
}

function presentPlainFields(agent: Agent) {
  return Object.fromEntries(
    plainAgentFields.map((field) => [AGENT_FIELDS[field].api, agent[field] ?? nullShownAs(field)]),
  );
}

function presentHandoff({ agentId, when, context, message, keepVoice, greet }: Handoff) {
  return {
    agent_id: agentId,
    when,
    context: nameOf(HANDOFF_CONTEXTS, context),
    ...(message !== undefined && { message }),
    keep_voice: keepVoice,
    greet,
  };
}

function presentKnowledge({ knowledgeBaseId, mode, maxChunks, maxCharacters, minScore }: AgentKnowledge) {
  return {
    knowledge_base_id: knowledgeBaseId,
    mode: nameOf(KNOWLEDGE_MODES, mode),
    max_chunks: maxChunks,
    max_characters: maxCharacters,
    ...(minScore !== undefined && { min_score: minScore }),
  };
}

function presentStartWebhook({ url, headers, secret, timeoutMs, onFailure, channels }: StartWebhook) {
  return {
    url,
    headers: presentHeaders(headers),
    secret: secret ?? "",
    timeout_ms: timeoutMs,
    on_failure: nameOf(START_FAILURES, onFailure),
    channels: channels.length > 0 ? channels : null,
  };
}

/** What came of trying a start webhook. */
export function presentTriedStartWebhook({ request, status, answer, durationMs, error }: TryStartWebhookResponse) {
  return {
    request: request ? presentTriedRequest(request) : null,
    status: status ?? null,
    answer: answer ?? null,
    duration_ms: durationMs,
    error: error ?? null,
  };
}

function presentStt(stt: SttConfig) {
  return {
    provider_name: stt.providerName,
    model_name: stt.modelName,
    ...language(stt),
    params: presentEndpoint(stt.endpoint),
  };
}

function presentEndpoint(endpoint: SpeechEndpoint | undefined) {
  if (!endpoint) return {};
  return { base_url: endpoint.baseUrl, ...presentKey(endpoint) };
}

function presentKey({ apiKey, keySecret }: Pick<SpeechEndpoint, "apiKey" | "keySecret">) {
  if (keySecret !== undefined) return { api_key: { secret: keySecret } };
  return apiKey === undefined ? {} : { api_key: apiKey };
}

export function presentLlm(llm: LlmConfig): object {
  const { temperature, baseUrl, apiType, ...key } = llm.params ?? {};
  return {
    provider_name: llm.providerName,
    model_name: llm.modelName,
    params: {
      ...(baseUrl !== undefined && { base_url: baseUrl }),
      ...presentKey(key),
      ...(apiType !== undefined && { API_TYPE: apiType }),
      ...(temperature !== undefined && { temperature }),
    },
    ...(llm.price && { pricing: presentPricing(llm.price) }),
    ...(llm.fallbacks.length > 0 && { fallbacks: llm.fallbacks.map(presentLlm) }),
  };
}

function presentTts(tts: TtsConfig) {
  return {
    provider_name: tts.providerName,
    ...(tts.modelName !== undefined && { model_name: tts.modelName }),
    ...language(tts),
    voice_id: tts.voiceId,
    params: { ...presentEndpoint(tts.endpoint), ...(tts.speed !== undefined && { speed: tts.speed }) },
  };
}

function presentSts(sts: StsConfig) {
  return {
    provider_name: sts.providerName,
    model_name: sts.modelName,
    ...language(sts),
    ...(sts.voiceId !== undefined && { voice_id: sts.voiceId }),
    params: sts.params ?? {},
  };
}

function language(config: { language?: string | undefined }) {
  return config.language === undefined ? {} : { language: config.language };
}

/** A variable that an agent expects (docs/api-reference.md#dynamic-variables). */
export function presentVariable(variable: DynamicVariable) {
  return {
    variable_name: variable.variableName,
    required: variable.required,
    field_type: nameOf(FIELD_TYPES, variable.fieldType),
    description: variable.description,
  };
}
