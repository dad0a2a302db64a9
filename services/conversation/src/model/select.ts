import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible, type OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { AgentRuntime, LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import { noSecretKey } from "@parley/shared/domain/secret-keys";
import type { Egress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { chatCompletions } from "./answers/chat-completions.ts";
import { responses } from "./answers/responses.ts";
import { type AttemptPolicy, withAttempts } from "./attempts.ts";
import { sendBy } from "./bounded-fetch.ts";
import { observedModel } from "./observed.ts";
import type { Model } from "./port.ts";
import { providerModel } from "./provider-model.ts";
import { type Credentials, keyVariableOf, LLM_PROVIDERS } from "./providers.ts";
import { type RememberedModels, rememberModels } from "./remembered-models.ts";
import { bodyWriter, onlyWrite, requestWriter, type WriteRequest } from "./requests/written-request.ts";

export interface ProviderSettings extends Pick<AttemptPolicy, "retryMs"> {
  credentials: Credentials;
  /** The `fetch` for addresses that the operator set. */
  standardFetch: typeof fetch;
  /** For addresses that users set. */
  guarded: Pick<Egress, "ask">;
}

/** The agent's model. @throws ServiceError condition if it has none, or if the model's key is lost */
export function llmOf({ llm, unreadableKey }: AgentRuntime): LlmConfig {
  if (unreadableKey) {
    throw new ServiceError("condition", `The agent's ${unreadableKey} can no longer be read: set it again`);
  }
  if (!llm) throw new ServiceError("condition", "Agent has no LLM configuration: set llm");
  return llm;
}

/**
 * Returns the configured model with its fallbacks. Leaves out models whose provider has no credential, or whose secret cannot
 * be had, as long as another can be used.
 * @param log logs each failed attempt
 * @throws ServiceError condition, naming the first model's provider or secret, when none can be used
 */
export function selectModel(ownerId: string, llm: LlmConfig, settings: ProviderSettings, log: Logger): Model {
  const [first, ...others] = [llm, ...llm.fallbacks]
    .flatMap((config) => modelOf(ownerId, config, settings) ?? [])
    .map(observedModel);
  if (!first) throw unusable(llm);
  return withAttempts([first, ...others], { retryMs: settings.retryMs, log });
}

function unusable({ providerName: name, params }: LlmConfig): ServiceError {
  if (params?.keySecret !== undefined) return noSecretKey("llm", params.keySecret);
  const provider = Object.hasOwn(LLM_PROVIDERS, name) ? LLM_PROVIDERS[name] : undefined;
  const remedy = provider ? `: the operator has to set ${keyVariableOf(provider.prefix)}` : "";
  return new ServiceError("condition", `LLM provider ${name} is not configured${remedy}`);
}

/** Returns null when the provider has no credential, or the owner not the secret that is the key. */
function modelOf(
  ownerId: string,
  { providerName, modelName, params, price }: LlmConfig,
  settings: ProviderSettings,
): Model | null {
  const by = { provider: providerName, name: modelName, price };
  const temperature = params?.temperature;
  if (providerName === "CUSTOM_LLM") {
    if (params?.keySecret !== undefined && params.apiKey === undefined) return null;
    const key = JSON.stringify([modelName, params?.baseUrl, params?.apiKey, params?.apiType]);
    const isResponses = params?.apiType === "RESPONSES";
    const make = isResponses ? customResponses : customChat;
    const writeRequest = remembered(settings).custom(ownerId, key, () => make(modelName, params));
    const refused = remembered(settings).refused(ownerId, params?.baseUrl ?? "");
    const given = { temperature, userFirst: true };
    const endpoint = { by, writeRequest, settings: given, send: settings.guarded.ask, refused };
    return providerModel(isResponses ? responses : chatCompletions, endpoint);
  }
  const provider = Object.hasOwn(LLM_PROVIDERS, providerName) ? LLM_PROVIDERS[providerName] : undefined;
  const credential = provider && settings.credentials[provider.prefix];
  if (!credential || credential.apiKey === "") return null;
  const writeRequest = remembered(settings).standard(JSON.stringify([providerName, modelName]), () =>
    requestWriter(provider.create({ ...credential, fetch: onlyWrite }, modelName)),
  );
  const given = { temperature, userFirst: provider.userFirst ?? false, needsTools: provider.needsTools };
  return providerModel(provider.protocol, { by, writeRequest, settings: given, send: sendBy(settings.standardFetch) });
}

const MODELS = new WeakMap<ProviderSettings, RememberedModels<WriteRequest>>();

function remembered(settings: ProviderSettings): RememberedModels<WriteRequest> {
  const models = MODELS.get(settings) ?? rememberModels();
  MODELS.set(settings, models);
  return models;
}

function customResponses(name: string, params: LlmParams | undefined): WriteRequest {
  return requestWriter(createOpenAI({ ...endpointOf(params), fetch: onlyWrite, name: "custom" }).responses(name));
}

function customChat(name: string, params: LlmParams | undefined): WriteRequest {
  const model = createOpenAICompatible({
    ...endpointOf(params),
    fetch: onlyWrite,
    name: "custom",
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel(name) as OpenAICompatibleChatLanguageModel;
  return bodyWriter(model);
}

function endpointOf(params: LlmParams | undefined) {
  return { baseURL: params?.baseUrl ?? "", apiKey: params?.apiKey ?? "" };
}
