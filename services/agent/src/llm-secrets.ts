import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import { invalid } from "@parley/shared/errors";
import type { Sealer } from "@parley/shared/sealing";

/** An LLM configuration at rest: the key is sealed, and only its mask can be shown. */
export interface StoredLlm {
  providerName: string;
  modelName: string;
  params: StoredParams;
  fallbacks: StoredLlm[];
}

export interface StoredParams {
  temperature?: number | undefined;
  baseUrl?: string | undefined;
  apiType?: string | undefined;
  sealedApiKey?: string;
  apiKeyMask?: string;
}

const STARS = "********";
/** A shorter key would show too much of itself by its end. */
const SHOWN_FROM_LENGTH = 12;

/** What an owner sees of a key (decisions.md: Agents). */
export function maskApiKey(apiKey: string): string {
  return apiKey.length < SHOWN_FROM_LENGTH ? STARS : STARS + apiKey.slice(-4);
}

/**
 * Makes a configuration fit to be stored. A mask in the place of a key stands for the key it was made from, as long as it
 * still goes to the same base_url: otherwise a key could be sent to another host by someone who never knew it.
 * @param stored what the agent had before, null for a new agent
 * @throws ServiceError invalid on a mask that stands for nothing
 */
export function sealLlm(
  given: LlmConfig,
  stored: StoredLlm | null,
  sealer: Sealer,
  ownerId: string,
  path = "llm",
): StoredLlm {
  const known = stored ? [stored.params, ...stored.fallbacks.map((fallback) => fallback.params)] : [];
  const { apiKey, ...params } = given.params ?? {};
  return {
    providerName: given.providerName,
    modelName: given.modelName,
    params: { ...params, ...(apiKey !== undefined && sealKey(apiKey, params.baseUrl, known, sealer, ownerId, path)) },
    fallbacks: given.fallbacks.map((fallback, at) =>
      sealLlm(fallback, stored, sealer, ownerId, `${path}.fallbacks.${at}`),
    ),
  };
}

function sealKey(
  apiKey: string,
  baseUrl: string | undefined,
  known: readonly StoredParams[],
  sealer: Sealer,
  ownerId: string,
  path: string,
): Pick<StoredParams, "sealedApiKey" | "apiKeyMask"> {
  if (!apiKey.startsWith(STARS)) return { sealedApiKey: sealer.seal(apiKey, ownerId), apiKeyMask: maskApiKey(apiKey) };
  const masked = known.filter((params) => params.apiKeyMask === apiKey);
  const same = masked.find((params) => params.baseUrl === baseUrl);
  if (same?.sealedApiKey) return { sealedApiKey: same.sealedApiKey, apiKeyMask: apiKey };
  const field = `${path}.params.api_key`;
  throw invalid(
    field,
    masked.length > 0
      ? `${field} must be sent again in full because base_url changes`
      : `${field} is a mask that matches no stored key, send the key itself`,
  );
}

/** As an owner may see it. */
export function maskedLlm(stored: StoredLlm): LlmConfig {
  return revealed(stored, (params) => params.apiKeyMask);
}

/** As the conversation service needs it, keys in the clear. */
export function openLlm(stored: StoredLlm, sealer: Sealer, ownerId: string): LlmConfig {
  return revealed(stored, ({ sealedApiKey }) => sealedApiKey && sealer.open(sealedApiKey, ownerId));
}

function revealed(stored: StoredLlm, keyOf: (params: StoredParams) => string | undefined): LlmConfig {
  const { temperature, baseUrl, apiType } = stored.params;
  const params: LlmParams = { temperature, baseUrl, apiType, apiKey: keyOf(stored.params) };
  return {
    providerName: stored.providerName,
    modelName: stored.modelName,
    params,
    fallbacks: stored.fallbacks.map((fallback) => revealed(fallback, keyOf)),
  };
}
