import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Egress } from "@parley/shared/egress/egress";
import { serviceErrorOf } from "@parley/testkit/failures";
import { boundedFetch } from "../src/model/bounded-fetch.ts";
import { LLM_PROVIDERS } from "../src/model/providers.ts";
import type { ProviderSettings } from "../src/model/select.ts";

export const ANSWER_MAX_BYTES = 1024 * 1024;
/** One that the packages know: of some providers they ask only the newer models for JSON of a schema. */
export const MODEL = "claude-sonnet-4-5";

/** The same key and address for every standard provider. */
export const credentials = (apiKey: string, baseURL: string) =>
  Object.fromEntries(Object.values(LLM_PROVIDERS).map(({ prefix }) => [prefix, { apiKey, baseURL }]));

export function settings(baseURL: string, egress: Egress, given: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    credentials: credentials("sk-ours", baseURL),
    standardFetch: boundedFetch(ANSWER_MAX_BYTES),
    guarded: egress,
    retryMs: 1,
    ...given,
  };
}

export function standard(providerName: string, temperature?: number): LlmConfig {
  const params = { baseUrl: undefined, apiKey: undefined, apiType: undefined, temperature };
  return { providerName, modelName: MODEL, params, fallbacks: [] };
}

export function custom(baseUrl: string, apiType?: string, temperature?: number): LlmConfig {
  const params = { baseUrl, apiKey: "sk-theirs", apiType, temperature };
  return { providerName: "CUSTOM_LLM", modelName: MODEL, params, fallbacks: [] };
}

/** How a call of a model failed. @throws when it did not, or not as a ServiceError */
export async function failure(answer: Promise<unknown>): Promise<{ kind: string; detail: string }> {
  const { kind, detail } = await serviceErrorOf(answer);
  return { kind, detail };
}
