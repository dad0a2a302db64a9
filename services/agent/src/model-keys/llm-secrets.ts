import type { LlmConfig, LlmParams } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { CUSTOM, type Prices } from "../catalogue/catalogue.ts";
import { addressOfModel, type SealedKey, type StoredLlm, type StoredParams } from "../store/stored-keys.ts";
import { type ModelKeys, useOf } from "./model-keys.ts";
import { type Before, openKey, sealKey } from "./sealed-key.ts";

/**
 * Prepares a configuration for storing. If a mask stands for several keys, because the masks of short keys are all
 * alike, it means the key in the same position.
 * @param before null for a new agent that is no copy
 * @throws ServiceError as `sealKey` does
 */
export function sealLlm(
  given: LlmConfig,
  before: Before<StoredLlm> | null,
  keys: ModelKeys,
  agent: AgentKey,
): StoredLlm {
  const known = before?.config
    ? [before.config, ...before.config.fallbacks].map((config) => ({
        ...config.params,
        use: useOf(before.of, addressOfModel(config)),
      }))
    : [];
  const placeIn = placesOfKeys(keys, agent);
  const sealOne = (
    { providerName, modelName, params = {}, price }: LlmConfig,
    place: number,
    path: string,
  ): StoredLlm => {
    const { apiKey, ...rest } = params;
    const use = useOf(agent, addressOfModel({ providerName, params: rest }));
    const candidates = [...known.slice(place, place + 1), ...known];
    const key = apiKey === undefined ? {} : sealKey(apiKey, use, candidates, keys, `${path}.${API_KEY}`);
    const stated = providerName === CUSTOM.llm && price ? { price } : {};
    const sealed: StoredLlm = { providerName, modelName, params: { ...rest, ...key }, fallbacks: [], ...stated };
    return { ...sealed, params: { ...sealed.params, ...placeIn(sealed) } };
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

/** The agent's configurations that use one key at one address share it; another key there has the next place. */
function placesOfKeys(keys: ModelKeys, agent: AgentKey) {
  const places = new Map<string, string[]>();
  return (config: StoredLlm): Pick<SealedKey, "keyPlace"> => {
    const { sealedApiKey } = config.params;
    if (!sealedApiKey) return {};
    const address = addressOfModel(config);
    const known = places.get(JSON.stringify(address)) ?? [];
    places.set(JSON.stringify(address), known);
    const text = openKey(sealedApiKey, useOf(agent, address), keys) ?? "";
    const place = known.indexOf(text);
    return { keyPlace: place === -1 ? known.push(text) - 1 : place };
  };
}

/** The configuration as an owner may see it. */
export function maskedLlm(stored: StoredLlm): LlmConfig {
  return revealed(stored, (params) => params.apiKeyMask, {});
}

/**
 * The configuration with keys in plain text, or the names of secrets, and the models' prices, for the conversation service; or the
 * field of the first key that cannot be opened.
 */
export function openLlm(
  stored: StoredLlm,
  keys: ModelKeys,
  agent: AgentKey,
  prices: Prices,
): { llm: LlmConfig } | { unreadableKey: string } {
  const opened = new Map<StoredParams, string>();
  const configs: [string, StoredLlm][] = [
    [LLM, stored],
    ...stored.fallbacks.map((fallback, at): [string, StoredLlm] => [fallbackPath(at), fallback]),
  ];
  for (const [path, config] of configs) {
    const { sealedApiKey } = config.params;
    if (sealedApiKey === undefined) continue;
    const apiKey = openKey(sealedApiKey, useOf(agent, addressOfModel(config)), keys);
    if (apiKey === null) return { unreadableKey: `${path}.${API_KEY}` };
    opened.set(config.params, apiKey);
  }
  return { llm: revealed(stored, (params) => opened.get(params), prices) };
}

/** @param prices of models that are not the owner's own; empty to leave them out */
function revealed(stored: StoredLlm, keyOf: (params: StoredParams) => string | undefined, prices: Prices): LlmConfig {
  const { providerName, modelName } = stored;
  const { temperature, baseUrl, apiType, keySecret } = stored.params;
  const params: LlmParams = { temperature, baseUrl, apiType, keySecret, apiKey: keyOf(stored.params) };
  return {
    providerName,
    modelName,
    params,
    fallbacks: stored.fallbacks.map((fallback) => revealed(fallback, keyOf, prices)),
    price: stored.price ?? prices[providerName]?.[modelName],
  };
}
