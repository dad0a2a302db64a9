import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid } from "@parley/shared/errors";
import type { KeyUse, ModelKeys } from "./model-keys.ts";

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

/** Owners see only the last four characters of a key. */
function maskApiKey(apiKey: string): string {
  return apiKey.length < SHOWN_FROM_LENGTH ? STARS : STARS + apiKey.slice(-4);
}

/**
 * Makes a configuration fit to be stored. A mask in the place of a key stands for the key it was made from, as long as it
 * still goes to the same base_url: otherwise a key could be sent to another host by someone who never knew it. Of several
 * such keys, as short ones all look the same, it is the one in the same place.
 * @param stored what the agent had before, null for a new agent
 * @throws ServiceError invalid on a mask that stands for nothing, or for a key that cannot be read any more
 */
export function sealLlm(given: LlmConfig, stored: StoredLlm | null, keys: ModelKeys, agent: AgentKey): StoredLlm {
  const known = stored ? [stored, ...stored.fallbacks] : [];
  const sealOne = ({ providerName, modelName, params = {} }: LlmConfig, place: number, path: string): StoredLlm => {
    const { apiKey, ...rest } = params;
    const use = useOf(agent, { providerName, params: rest });
    const candidates = [...known.slice(place, place + 1), ...known];
    const key = apiKey === undefined ? {} : sealKey(apiKey, use, candidates, keys, `${path}.${API_KEY}`);
    return { providerName, modelName, params: { ...rest, ...key }, fallbacks: [] };
  };
  return {
    ...sealOne(given, 0, LLM),
    fallbacks: given.fallbacks.map((fallback, at) => sealOne(fallback, at + 1, fallbackPath(at))),
  };
}

const LLM = "llm";
const API_KEY = "params.api_key";

function fallbackPath(at: number): string {
  return `${LLM}.fallbacks.${at}`;
}

function useOf(
  { ownerId, agentId }: AgentKey,
  { providerName, params }: { providerName: string; params: Pick<StoredParams, "baseUrl"> },
): KeyUse {
  return { ownerId, agentId, providerName, baseUrl: params.baseUrl };
}

function sealKey(
  apiKey: string,
  use: KeyUse,
  known: readonly StoredLlm[],
  keys: ModelKeys,
  field: string,
): Pick<StoredParams, "sealedApiKey" | "apiKeyMask"> {
  if (!apiKey.startsWith(STARS)) return { sealedApiKey: keys.seal(apiKey, use), apiKeyMask: maskApiKey(apiKey) };
  const masked = known.filter(({ params }) => params.apiKeyMask === apiKey);
  const same = masked.find(({ params }) => params.baseUrl === use.baseUrl);
  if (!same?.params.sealedApiKey) {
    throw invalid(
      field,
      masked.length > 0
        ? `${field} must be sent again in full because base_url changes`
        : `${field} is a mask that matches no stored key, send the key itself`,
    );
  }
  const kept = openKey(same.params.sealedApiKey, useOf(use, same), keys);
  if (kept === null) throw invalid(field, `${field} must be sent again in full because the stored key cannot be read`);
  return { sealedApiKey: keys.seal(kept, use), apiKeyMask: apiKey };
}

/** Null when it cannot be opened. */
function openKey(sealed: string, use: KeyUse, keys: ModelKeys): string | null {
  try {
    return keys.open(sealed, use);
  } catch {
    return null;
  }
}

/** The same configuration, its keys sealed as they are now. @throws when one of them cannot be opened */
export function resealLlm(stored: StoredLlm, keys: ModelKeys, agent: AgentKey): StoredLlm {
  const { sealedApiKey } = stored.params;
  const key = sealedApiKey && { sealedApiKey: keys.reseal(sealedApiKey, useOf(agent, stored)) };
  return {
    ...stored,
    params: { ...stored.params, ...key },
    fallbacks: stored.fallbacks.map((fallback) => resealLlm(fallback, keys, agent)),
  };
}

/** As an owner may see it. */
export function maskedLlm(stored: StoredLlm): LlmConfig {
  return revealed(stored, (params) => params.apiKeyMask);
}

/** As the conversation service needs it, keys in the clear; or the field of the first key that cannot be opened. */
export function openLlm(
  stored: StoredLlm,
  keys: ModelKeys,
  agent: AgentKey,
): { llm: LlmConfig } | { unreadableKey: string } {
  const opened = new Map<StoredParams, string>();
  const configs: [string, StoredLlm][] = [
    [LLM, stored],
    ...stored.fallbacks.map((fallback, at): [string, StoredLlm] => [fallbackPath(at), fallback]),
  ];
  for (const [path, config] of configs) {
    const { sealedApiKey } = config.params;
    if (!sealedApiKey) continue;
    const apiKey = openKey(sealedApiKey, useOf(agent, config), keys);
    if (apiKey === null) return { unreadableKey: `${path}.${API_KEY}` };
    opened.set(config.params, apiKey);
  }
  return { llm: revealed(stored, (params) => opened.get(params)) };
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
