import { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { type Credentials, LLM_PROVIDERS } from "./providers.ts";

/**
 * Reads a setting such as `{"provider_name": "OPENAI", "model_name": "gpt-5-mini"}`, in the form of the API.
 * @throws Error saying what is wrong
 */
export function parseDefaultLlm(text: string): LlmConfig {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("must be a JSON object, as in an agent");
  const { provider_name: providerName, model_name: modelName, params } = value as Record<string, unknown>;
  const { base_url: baseUrl, api_key: apiKey, temperature } = (params ?? {}) as Record<string, unknown>;
  return LlmConfig.fromPartial({
    providerName: textOf(providerName, "provider_name"),
    modelName: textOf(modelName, "model_name"),
    params: {
      ...(typeof baseUrl === "string" && { baseUrl }),
      ...(typeof apiKey === "string" && { apiKey }),
      ...(typeof temperature === "number" && { temperature }),
    },
  });
}

/** The standard providers that the operator has a key for, in the order of `LLM_PROVIDERS`. */
export function usableProviders(credentials: Credentials): string[] {
  return Object.entries(LLM_PROVIDERS)
    .filter(([, { prefix }]) => (credentials[prefix]?.apiKey ?? "") !== "")
    .map(([name]) => name);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "") throw new Error(`must have ${name}`);
  return value;
}
