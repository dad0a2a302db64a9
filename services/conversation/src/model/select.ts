import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { LRUCache } from "lru-cache";
import { aiSdkModel } from "./ai-sdk.ts";
import { type AttemptPolicy, withAttempts } from "./attempts.ts";
import { observedModel } from "./observed.ts";
import type { Model } from "./port.ts";

/** Where a standard provider is, with the version in the path, and with what it is called; no key: it cannot be. */
export interface Credential {
  apiKey: string;
  baseURL: string;
}

export type CredentialName = "openai" | "anthropic" | "google" | "groq" | "mistral";

export interface ProviderSettings extends Pick<AttemptPolicy, "retryMs"> {
  credentials: Readonly<Record<CredentialName, Credential>>;
  /** For the operator's addresses. */
  standardFetch: typeof fetch;
  /** For addresses that users gave. */
  guardedFetch: typeof fetch;
}

interface Access extends Credential {
  fetch: typeof fetch;
}

interface StandardProvider {
  credential: CredentialName;
  create(access: Access, model: string): LanguageModelV4;
  userFirst?: true;
}

/** The standard providers' names in an agent's configuration (decisions.md: Provider catalogue). */
const STANDARD: Readonly<Record<string, StandardProvider>> = {
  OPENAI: { credential: "openai", create: (access, model) => createOpenAI(access).chat(model) },
  OPENAI_RESPONSES: { credential: "openai", create: (access, model) => createOpenAI(access).responses(model) },
  ANTHROPIC: { credential: "anthropic", create: (access, model) => createAnthropic(access)(model), userFirst: true },
  GOOGLE: { credential: "google", create: (access, model) => createGoogle(access)(model), userFirst: true },
  GROQ: { credential: "groq", create: (access, model) => createGroq(access)(model) },
  MISTRAL: { credential: "mistral", create: (access, model) => createMistral(access)(model) },
};

/**
 * The model that an agent's configuration names, with its fallbacks behind it. One whose provider has no credential here is left
 * out while another can be used.
 * @param log gets a line for each attempt that fails
 * @throws ServiceError condition naming the first when none can be used (decisions.md: Provider catalogue)
 */
export function selectModel(llm: LlmConfig, settings: ProviderSettings, log: Logger): Model {
  const [first, ...others] = [llm, ...llm.fallbacks]
    .flatMap((config) => modelOf(config, settings) ?? [])
    .map(observedModel);
  if (!first) throw new ServiceError("condition", `LLM provider ${llm.providerName} is not configured`);
  return withAttempts([first, ...others], { retryMs: settings.retryMs, log });
}

/** Null when its provider has no credential here. */
function modelOf({ providerName, modelName, params }: LlmConfig, settings: ProviderSettings): Model | null {
  const by = { provider: providerName, name: modelName };
  const given = { temperature: params?.temperature, userFirst: false };
  if (providerName === "CUSTOM_LLM") {
    const key = JSON.stringify([modelName, params?.baseUrl, params?.apiKey, params?.apiType]);
    const model = remembered(settings, key, () => customModel(modelName, params, settings.guardedFetch));
    return aiSdkModel(by, model, given);
  }
  const provider = Object.hasOwn(STANDARD, providerName) ? STANDARD[providerName] : undefined;
  const credential = provider && settings.credentials[provider.credential];
  if (!credential || credential.apiKey === "") return null;
  const model = remembered(settings, JSON.stringify([providerName, modelName]), () =>
    provider.create({ ...credential, fetch: settings.standardFetch }, modelName),
  );
  return aiSdkModel(by, model, { ...given, userFirst: provider.userFirst ?? false });
}

const MODELS_MAX = 1_000;
const MODELS = new WeakMap<ProviderSettings, LRUCache<string, LanguageModelV4>>();

/** Made once: with each model its package makes the schemas of the answers anew, which is a sixth of a turn's CPU. */
function remembered(settings: ProviderSettings, key: string, make: () => LanguageModelV4): LanguageModelV4 {
  let models = MODELS.get(settings);
  if (!models) {
    models = new LRUCache({ max: MODELS_MAX });
    MODELS.set(settings, models);
  }
  const known = models.get(key);
  if (known) return known;
  const model = make();
  models.set(key, model);
  return model;
}

function customModel(model: string, params: LlmParams | undefined, guardedFetch: typeof fetch): LanguageModelV4 {
  const endpoint = { baseURL: params?.baseUrl ?? "", apiKey: params?.apiKey ?? "", fetch: guardedFetch };
  if (params?.apiType === "RESPONSES") return createOpenAI({ ...endpoint, name: "custom" }).responses(model);
  return createOpenAICompatible({
    ...endpoint,
    name: "custom",
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel(model);
}
