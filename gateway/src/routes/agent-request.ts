import type {
  AgentKnowledge,
  LlmConfig,
  ModelPrice,
  SpeechEndpoint,
  StartWebhook,
  StsConfig,
  SttConfig,
  TtsConfig,
} from "@parley/proto/parley/agent/v1/agent.ts";
import {
  type AnalysisSettings,
  CreateAgentRequest,
  type PromptSource,
  UpdateAgentRequest,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import {
  AGENT_FIELDS,
  type AgentField,
  agentFields,
  isList,
  type PlainAgentField,
  plainAgentFields,
} from "@parley/shared/domain/agent-fields";
import { AGENT_TYPES, numberOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { KNOWLEDGE_MODES } from "@parley/shared/domain/knowledge";
import { HANDOFF_CONTEXTS, START_FAILURES } from "@parley/shared/domain/tools";
import { invalid } from "@parley/shared/errors";
import type { AgentKnowledgeBody, HandoffBody } from "../schemas/agents/acting.ts";
import type { CreateAgentBody, UpdateAgentBody } from "../schemas/agents/requests.ts";
import type { StartWebhookBody } from "../schemas/agents/start-webhook.ts";
import { headersOf } from "./tool-request.ts";

/** Converts the body of POST /agents. @throws ServiceError invalid on fields that contradict each other */
export function createAgentRequest(ownerId: string, body: CreateAgentBody): CreateAgentRequest {
  return CreateAgentRequest.fromPartial({
    ownerId,
    agentName: body.agent_name,
    agentType: AGENT_TYPES[body.agent_type],
    ...fieldsOf(body),
    ...promptsOf(body),
    ...ofVersions(body),
  });
}

/** Converts the body of PATCH /agents/{agent_id}: a missing field is unchanged, null clears one. */
export function updateAgentRequest(ownerId: string, agentId: string, body: UpdateAgentBody): UpdateAgentRequest {
  return UpdateAgentRequest.fromPartial({
    ownerId,
    agentId,
    ...(body.agent_name !== undefined && { agentName: body.agent_name }),
    ...(body.agent_type !== undefined && { agentType: AGENT_TYPES[body.agent_type] }),
    ...withListsWrapped(fieldsOf(body)),
    ...promptsOf(body),
    ...ofVersions(body),
    clear: clearedBy(body),
  });
}

function ofVersions({ publishing, version_note: versionNote }: UpdateAgentBody) {
  return { publishing: numberOf(PUBLISHINGS, publishing), versionNote: versionNote ?? undefined };
}

type GivenFields = Partial<Pick<CreateAgentRequest, AgentField>>;

function fieldsOf(body: UpdateAgentBody): GivenFields {
  const { stt, llm, tts, sts, custom_tools: tools, handoffs, knowledge, start_webhook: startWebhook } = body;
  return {
    ...plainFieldsOf(body as Required<UpdateAgentBody>),
    ...(stt && { stt: sttOf(stt) }),
    ...(llm && { llm: llmOf(llm) }),
    ...(tts && { tts: ttsOf(tts) }),
    ...(sts && { sts: stsOf(sts) }),
    ...(tools && { customTools: tools.map(({ tool_id }) => ({ toolId: tool_id })) }),
    ...(handoffs && { handoffs: handoffs.map(handoffOf) }),
    ...(knowledge && { knowledge: knowledge.map(knowledgeOf) }),
    ...(startWebhook && { startWebhook: startWebhookOf(startWebhook) }),
  };
}

/** Compiles only while the API's form of every plain field is the protocol's. */
type PlainBody = {
  [F in PlainAgentField as (typeof AGENT_FIELDS)[F]["api"]]: CreateAgentRequest[F] | null | undefined;
};

function plainFieldsOf(body: PlainBody): GivenFields {
  const values = plainAgentFields.map((field) => [field, body[AGENT_FIELDS[field].api]] as const);
  return Object.fromEntries(values.filter(([, value]) => value != null));
}

function withListsWrapped(fields: GivenFields): Partial<Pick<UpdateAgentRequest, AgentField>> {
  const values = Object.entries(fields) as [AgentField, unknown][];
  return Object.fromEntries(values.map(([field, value]) => [field, isList(field) ? { values: value } : value]));
}

/** The fields that null clears: their names in the API and in the protocol. */
const CLEARABLE = [
  ...agentFields.map((field) => [AGENT_FIELDS[field].api, field] as const),
  ["call_analysis_prompt", "analysisPrompt"],
  ["call_analysis_schema", "analysisSchema"],
  ["prompt", "prompt"],
  ["prompt_content", "prompt"],
] as const;

function clearedBy(body: UpdateAgentBody): string[] {
  return [...new Set(CLEARABLE.filter(([name]) => body[name] === null).map(([, field]) => field))];
}

function promptsOf(body: UpdateAgentBody): Pick<Partial<CreateAgentRequest>, "prompt" | "analysis"> {
  const prompt = promptOf(body);
  const analysis = analysisOf(body);
  return { ...(prompt && { prompt }), ...(analysis && { analysis }) };
}

function promptOf({ prompt, prompt_content }: UpdateAgentBody): PromptSource | undefined {
  if (prompt && prompt_content != null) {
    throw invalid("prompt_content", "prompt_content and prompt must not both be given: send one of them");
  }
  if (prompt_content != null) return { source: { $case: "content", value: prompt_content } };
  if (!prompt) return undefined;
  return referenceTo(prompt.prompt_name, prompt);
}

function analysisOf(body: UpdateAgentBody): AnalysisSettings | undefined {
  const { call_analysis_enabled: enabled, call_analysis_prompt: prompt, call_analysis_schema: schema } = body;
  if (enabled === undefined && !prompt && !schema) return undefined;
  return {
    // Null clears it, and no analysis runs unless it is enabled.
    enabled: enabled === null ? false : enabled,
    prompt: prompt ? analysisPromptOf(prompt) : undefined,
    schema: schema ?? undefined,
  };
}

function analysisPromptOf(prompt: NonNullable<UpdateAgentBody["call_analysis_prompt"]>): PromptSource {
  const { prompt_name: name, prompt_version: version, prompt_label: label, custom_prompt: custom } = prompt;
  if ((name == null) === (custom == null)) {
    throw invalid("call_analysis_prompt", "call_analysis_prompt must have either prompt_name or custom_prompt");
  }
  if (custom != null && (version ?? label) != null) {
    const path = `call_analysis_prompt.${version != null ? "prompt_version" : "prompt_label"}`;
    throw invalid(path, `${path} must not be given with custom_prompt, which makes a new version`);
  }
  if (custom != null) return { source: { $case: "content", value: custom } };
  return referenceTo(name ?? "", prompt);
}

function referenceTo(
  promptName: string,
  { prompt_version, prompt_label }: Pick<NonNullable<UpdateAgentBody["prompt"]>, "prompt_version" | "prompt_label">,
): PromptSource {
  const value = {
    promptName,
    promptVersion: prompt_version ?? undefined,
    promptLabel: prompt_label ?? undefined,
  };
  return { source: { $case: "reference", value } };
}

function handoffOf({ agent_id, when, context, message, keep_voice, greet }: HandoffBody): Handoff {
  return {
    agentId: agent_id,
    when,
    context: HANDOFF_CONTEXTS[context ?? "all"],
    message: message ?? undefined,
    keepVoice: keep_voice ?? false,
    greet: greet ?? false,
  };
}

/** The API's defaults. */
const KNOWLEDGE_DEFAULTS = { maxChunks: 6, maxCharacters: 8_000 };

function knowledgeOf({
  knowledge_base_id,
  mode,
  max_chunks,
  max_characters,
  min_score,
}: AgentKnowledgeBody): AgentKnowledge {
  return {
    knowledgeBaseId: knowledge_base_id,
    mode: KNOWLEDGE_MODES[mode],
    maxChunks: max_chunks ?? KNOWLEDGE_DEFAULTS.maxChunks,
    maxCharacters: max_characters ?? KNOWLEDGE_DEFAULTS.maxCharacters,
    minScore: min_score ?? undefined,
  };
}

function startWebhookOf(body: StartWebhookBody): StartWebhook {
  const { url, headers, secret, timeout_ms: timeoutMs, on_failure: onFailure, channels } = body;
  return {
    url,
    headers: headersOf(headers ?? {}),
    secret: secret ?? undefined,
    timeoutMs: timeoutMs ?? 0,
    onFailure: numberOf(START_FAILURES, onFailure ?? undefined),
    channels: channels ?? [],
  };
}

function sttOf(stt: NonNullable<UpdateAgentBody["stt"]>): SttConfig {
  return {
    providerName: stt.provider_name,
    modelName: stt.model_name,
    language: stt.language ?? undefined,
    endpoint: endpointOf(stt.params),
  };
}

/** Only an owner's own server has an address. */
function endpointOf(
  params: { base_url?: string; api_key?: KeyBody; speed?: number } | null | undefined,
): SpeechEndpoint | undefined {
  return params?.base_url === undefined ? undefined : { baseUrl: params.base_url, ...keyOf(params.api_key) };
}

type KeyBody = string | { secret: string };

function keyOf(key: KeyBody | undefined): Pick<SpeechEndpoint, "apiKey" | "keySecret"> {
  return typeof key === "object" ? { keySecret: key.secret } : { apiKey: key };
}

interface PricingBody {
  input: number;
  output: number;
  cached_input?: number;
}

interface LlmBody {
  provider_name: string;
  model_name: string;
  params?: { temperature?: number; base_url?: string; api_key?: KeyBody; API_TYPE?: string } | null;
  pricing?: PricingBody | null;
}

function llmOf({ fallbacks, ...llm }: LlmBody & { fallbacks?: LlmBody[] | null }): LlmConfig {
  return modelOf(llm, fallbacks?.map((fallback) => modelOf(fallback, [])) ?? []);
}

function modelOf({ provider_name, model_name, params, pricing }: LlmBody, fallbacks: LlmConfig[]): LlmConfig {
  return {
    providerName: provider_name,
    modelName: model_name,
    params: {
      temperature: params?.temperature,
      baseUrl: params?.base_url,
      ...keyOf(params?.api_key),
      apiType: params?.API_TYPE,
    },
    fallbacks,
    price: pricing ? priceOf(pricing) : undefined,
  };
}

function priceOf({ input, output, cached_input }: PricingBody): ModelPrice {
  return { input, output, cachedInput: cached_input, source: "", date: "" };
}

function ttsOf(tts: NonNullable<UpdateAgentBody["tts"]>): TtsConfig {
  return {
    providerName: tts.provider_name,
    modelName: tts.model_name ?? undefined,
    language: tts.language ?? undefined,
    voiceId: tts.voice_id,
    speed: tts.params?.speed,
    endpoint: endpointOf(tts.params),
  };
}

function stsOf(sts: NonNullable<UpdateAgentBody["sts"]>): StsConfig {
  return {
    providerName: sts.provider_name,
    modelName: sts.model_name,
    language: sts.language ?? undefined,
    voiceId: sts.voice_id ?? undefined,
    params: sts.params ?? {},
  };
}
