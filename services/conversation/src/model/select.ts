import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible, type OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Egress } from "@parley/shared/egress/egress";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { type AskedModel, aiSdkModel } from "./ai-sdk.ts";
import { type AttemptPolicy, withAttempts } from "./attempts.ts";
import { boundedDocument, boundedEvents } from "./bounded-answers.ts";
import { sendBy } from "./bounded-fetch.ts";
import { chatCompletionsModel } from "./chat-completions/chat-completions.ts";
import { bodyWriter, onlyWrite, requestWriter, type WriteRequest } from "./chat-completions/written-request.ts";
import { observedModel } from "./observed.ts";
import type { Model } from "./port.ts";
import { type Credentials, keyVariableOf, LLM_PROVIDERS } from "./providers.ts";
import { type RememberedModels, rememberModels } from "./remembered-models.ts";

export interface ProviderSettings extends Pick<AttemptPolicy, "retryMs"> {
  credentials: Credentials;
  /** The `fetch` for addresses that the operator set. */
  standardFetch: typeof fetch;
  /** For addresses that users set. */
  guarded: Pick<Egress, "fetch" | "ask">;
}

/**
 * Returns the configured model with its fallbacks. Leaves out models whose provider has no credential, as long as
 * another can be used.
 * @param log logs each failed attempt
 * @throws ServiceError condition, naming the first model's provider, when none can be used
 */
export function selectModel(ownerId: string, llm: LlmConfig, settings: ProviderSettings, log: Logger): Model {
  const [first, ...others] = [llm, ...llm.fallbacks]
    .flatMap((config) => modelOf(ownerId, config, settings) ?? [])
    .map(observedModel);
  if (!first) throw new ServiceError("condition", notConfigured(llm.providerName));
  return withAttempts([first, ...others], { retryMs: settings.retryMs, log });
}

function notConfigured(name: string): string {
  const provider = Object.hasOwn(LLM_PROVIDERS, name) ? LLM_PROVIDERS[name] : undefined;
  const remedy = provider ? `: the operator has to set ${keyVariableOf(provider.prefix)}` : "";
  return `LLM provider ${name} is not configured${remedy}`;
}

/** Returns null when the provider has no credential. */
function modelOf(
  ownerId: string,
  { providerName, modelName, params, price }: LlmConfig,
  settings: ProviderSettings,
): Model | null {
  const by = { provider: providerName, name: modelName, price };
  const given = { temperature: params?.temperature, userFirst: false };
  if (providerName === "CUSTOM_LLM") {
    const key = JSON.stringify([modelName, params?.baseUrl, params?.apiKey, params?.apiType]);
    if (params?.apiType === "RESPONSES") {
      const make = () => writable(customResponses(modelName, params, settings.guarded.fetch));
      return aiSdkModel(by, remembered(settings).custom(ownerId, key, make).model, given);
    }
    const { writeRequest } = remembered(settings).custom(ownerId, key, () => customChat(modelName, params));
    return chatCompletionsModel(by, writeRequest, given, settings.guarded.ask);
  }
  const provider = Object.hasOwn(LLM_PROVIDERS, providerName) ? LLM_PROVIDERS[providerName] : undefined;
  const credential = provider && settings.credentials[provider.prefix];
  if (!credential || credential.apiKey === "") return null;
  const sdkFetch = provider.isChatCompletions ? onlyWrite : settings.standardFetch;
  const { model, writeRequest } = remembered(settings).standard(JSON.stringify([providerName, modelName]), () =>
    writable(provider.create({ ...credential, fetch: sdkFetch }, modelName)),
  );
  if (provider.isChatCompletions) return chatCompletionsModel(by, writeRequest, given, sendBy(settings.standardFetch));
  return aiSdkModel(by, model, { ...given, userFirst: provider.userFirst ?? false });
}

const MODELS = new WeakMap<ProviderSettings, RememberedModels<SdkModel>>();

interface SdkModel {
  model: AskedModel;
  /** For models that only write. */
  writeRequest: WriteRequest;
}

function remembered(settings: ProviderSettings): RememberedModels<SdkModel> {
  const models = MODELS.get(settings) ?? rememberModels();
  MODELS.set(settings, models);
  return models;
}

function writable(model: AskedModel): SdkModel {
  return { model, writeRequest: requestWriter(model) };
}

function customResponses(name: string, params: LlmParams, guardedFetch: typeof fetch): AskedModel {
  const by = (fetchIt: typeof fetch) =>
    createOpenAI({ ...endpointOf(params), fetch: fetchIt, name: "custom" }).responses(name);
  const streamed = by(boundedEvents(guardedFetch));
  const whole = by(boundedDocument(guardedFetch));
  return { doStream: (options) => streamed.doStream(options), doGenerate: (options) => whole.doGenerate(options) };
}

function customChat(name: string, params: LlmParams | undefined): SdkModel {
  const model = createOpenAICompatible({
    ...endpointOf(params),
    fetch: onlyWrite,
    name: "custom",
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel(name) as OpenAICompatibleChatLanguageModel;
  return { model, writeRequest: bodyWriter(model) };
}

function endpointOf(params: LlmParams | undefined) {
  return { baseURL: params?.baseUrl ?? "", apiKey: params?.apiKey ?? "" };
}
