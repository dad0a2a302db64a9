import { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { readSettings, requiredText } from "@parley/shared/json/read-settings";

/**
 * Reads a setting such as `{"provider_name": "OPENAI", "model_name": "gpt-5-mini"}`, in the form of the API.
 * @throws Error saying what is wrong
 */
export function parseDefaultLlm(text: string): LlmConfig {
  const settings = readSettings(text);
  const { base_url: baseUrl, api_key: apiKey, temperature } = (settings.params ?? {}) as Record<string, unknown>;
  return LlmConfig.fromPartial({
    providerName: requiredText(settings, "provider_name"),
    modelName: requiredText(settings, "model_name"),
    params: {
      ...(typeof baseUrl === "string" && { baseUrl }),
      ...(typeof apiKey === "string" && { apiKey }),
      ...(typeof temperature === "number" && { temperature }),
    },
  });
}
