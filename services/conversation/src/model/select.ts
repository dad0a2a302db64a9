import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createGroq } from "@ai-sdk/groq";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { aiSdkModel } from "./ai-sdk.ts";
import type { Model } from "./port.ts";

/** Where a standard provider is, with the version in the path, and with what it is called; no key: it cannot be. */
export interface Credential {
  apiKey: string;
  baseURL: string;
}

export type CredentialName = "openai" | "anthropic" | "google" | "groq" | "mistral";

export interface ProviderSettings {
  credentials: Readonly<Record<CredentialName, Credential>>;
  /** For addresses that users gave. */
  guardedFetch: typeof fetch;
}

/** The standard providers' names in an agent's configuration (decisions.md: Provider catalogue). */
const STANDARD: Readonly<
  Record<string, { credential: CredentialName; create(credential: Credential, model: string): LanguageModelV4 }>
> = {
  OPENAI: { credential: "openai", create: (credential, model) => createOpenAI(credential).chat(model) },
  OPENAI_RESPONSES: { credential: "openai", create: (credential, model) => createOpenAI(credential).responses(model) },
  ANTHROPIC: { credential: "anthropic", create: (credential, model) => createAnthropic(credential)(model) },
  GOOGLE: { credential: "google", create: (credential, model) => createGoogle(credential)(model) },
  GROQ: { credential: "groq", create: (credential, model) => createGroq(credential)(model) },
  MISTRAL: { credential: "mistral", create: (credential, model) => createMistral(credential)(model) },
};

/**
 * The model that an agent's configuration names.
 * @throws ServiceError condition when the provider has no credential here (decisions.md: Provider catalogue)
 */
export function selectModel({ providerName, modelName, params }: LlmConfig, settings: ProviderSettings): Model {
  if (providerName === "CUSTOM_LLM") {
    return aiSdkModel(providerName, modelName, customModel(modelName, params, settings.guardedFetch));
  }
  const provider = Object.hasOwn(STANDARD, providerName) ? STANDARD[providerName] : undefined;
  const credential = provider && settings.credentials[provider.credential];
  if (!credential || credential.apiKey === "") {
    throw new ServiceError("condition", `LLM provider ${providerName} is not configured`);
  }
  return aiSdkModel(providerName, modelName, provider.create(credential, modelName));
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
