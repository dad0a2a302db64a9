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
function maskApiKey(apiKey: string): string {
  return apiKey.length < SHOWN_FROM_LENGTH ? STARS : STARS + apiKey.slice(-4);
}

/**
 * Makes a configuration fit to be stored. A mask in the place of a key stands for the key it was made from, as long as it
 * still goes to the same base_url: otherwise a key could be sent to another host by someone who never knew it. Of several
 * such keys, as short ones all look the same, it is the one in the same place.
 * @param stored what the agent had before, null for a new agent
 * @throws ServiceError invalid on a mask that stands for nothing
 */
export function sealLlm(given: LlmConfig, stored: StoredLlm | null, sealer: Sealer, ownerId: string): StoredLlm {
  const known = stored ? [stored, ...stored.fallbacks].map((llm) => llm.params) : [];
  const sealOne = ({ providerName, modelName, params = {} }: LlmConfig, place: number, path: string): StoredLlm => {
    const { apiKey, ...rest } = params;
    const candidates = [...known.slice(place, place + 1), ...known];
    const key = apiKey === undefined ? {} : sealKey(apiKey, rest.baseUrl, candidates, sealer, ownerId, path);
    return { providerName, modelName, params: { ...rest, ...key }, fallbacks: [] };
  };
  return {
    ...sealOne(given, 0, "llm"),
    fallbacks: given.fallbacks.map((fallback, at) => sealOne(fallback, at + 1, `llm.fallbacks.${at}`)),
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

/** The same configuration, its keys sealed with the sealer's first key. */
export function resealLlm(stored: StoredLlm, sealer: Sealer, ownerId: string): StoredLlm {
  const { sealedApiKey } = stored.params;
  return {
    ...stored,
    params: { ...stored.params, ...(sealedApiKey && { sealedApiKey: sealer.reseal(sealedApiKey, ownerId) }) },
    fallbacks: stored.fallbacks.map((fallback) => resealLlm(fallback, sealer, ownerId)),
  };
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
