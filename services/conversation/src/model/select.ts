import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { aiSdkModel } from "./ai-sdk.ts";
import type { Model } from "./port.ts";

/** Where the models of standard providers are, and with what they are called. */
export interface ProviderSettings {
  openai: { apiKey: string; baseUrl: string };
  /** For addresses that users gave. */
  guardedFetch: typeof fetch;
}

/**
 * The model that an agent's configuration names.
 * @throws ServiceError condition when the provider has no credential here (decisions.md: Provider catalogue)
 */
export function selectModel(llm: LlmConfig, settings: ProviderSettings): Model {
  const { providerName, modelName, params } = llm;
  switch (providerName) {
    case "CUSTOM_LLM":
      return aiSdkModel(
        providerName,
        modelName,
        createOpenAICompatible({
          name: "custom",
          baseURL: params?.baseUrl ?? "",
          includeUsage: true,
          fetch: settings.guardedFetch,
          ...(params?.apiKey && { apiKey: params.apiKey }),
        }).chatModel(modelName),
      );
    case "OPENAI":
      if (settings.openai.apiKey === "") throw notConfigured(providerName);
      return aiSdkModel(
        providerName,
        modelName,
        createOpenAI({ apiKey: settings.openai.apiKey, baseURL: settings.openai.baseUrl }).chat(modelName),
      );
    default:
      throw notConfigured(providerName);
  }
}

function notConfigured(providerName: string): ServiceError {
  return new ServiceError("condition", `LLM provider ${providerName} is not configured`);
}
