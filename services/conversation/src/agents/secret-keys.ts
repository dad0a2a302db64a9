import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { type RevealSecrets, secretKeys } from "@parley/shared/domain/secret-keys";

/** The model with the values of the secrets that are its keys. A key stays absent if there is no such secret, or it cannot be a key. */
export async function withSecretKeys(reveal: RevealSecrets, ownerId: string, llm: LlmConfig): Promise<LlmConfig> {
  const names = [llm, ...llm.fallbacks].map(({ params }) => params?.keySecret);
  const keys = await secretKeys(reveal, ownerId, names);
  const filled = ({ params, ...config }: LlmConfig): LlmConfig => ({
    ...config,
    params: params?.keySecret === undefined ? params : { ...params, apiKey: keys.get(params.keySecret) },
  });
  return { ...filled(llm), fallbacks: llm.fallbacks.map(filled) };
}

/** Whether a key of the model, or of a fallback, is a secret that could not be had. */
export function lacksSecretKey({ params, fallbacks }: Pick<LlmConfig, "params" | "fallbacks">): boolean {
  return (params?.keySecret !== undefined && params.apiKey === undefined) || fallbacks.some(lacksSecretKey);
}
