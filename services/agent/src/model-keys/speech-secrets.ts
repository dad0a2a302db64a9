import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { addressOfSpeech, type SpeechConfig, type StoredSpeech } from "../store/stored-keys.ts";
import { type ModelKeys, useOf } from "./model-keys.ts";
import { type Before, openKey, sealKey } from "./sealed-key.ts";

/**
 * Prepares a configuration for storing.
 * @param path where the request has the configuration
 * @param before null for a new agent that is no copy
 * @throws ServiceError as `sealKey` does
 */
export function sealSpeech<C extends SpeechConfig>(
  path: "stt" | "tts",
  { endpoint, ...given }: C,
  before: Before<StoredSpeech<C>> | null,
  keys: ModelKeys,
  agent: AgentKey,
): StoredSpeech<C> {
  if (!endpoint) return given;
  const { apiKey, ...server } = endpoint;
  if (apiKey === undefined) return { ...given, endpoint: server };
  const { of = agent, config: stored = null } = before ?? {};
  const known = stored?.endpoint ? [{ ...stored.endpoint, use: useOf(of, addressOfSpeech(stored)) }] : [];
  const use = useOf(agent, addressOfSpeech({ providerName: given.providerName, endpoint }));
  return { ...given, endpoint: { ...server, ...sealKey(apiKey, use, known, keys, `${path}.params.api_key`) } };
}

/** The configuration as an owner may see it. */
export function maskedSpeech<C extends SpeechConfig>(stored: StoredSpeech<C>): C {
  return revealed(stored, stored.endpoint?.apiKeyMask);
}

/** The configuration as anyone may see it who does not call the endpoint. */
export function speechWithoutKey<C extends SpeechConfig>(stored: StoredSpeech<C>): C {
  return revealed(stored, undefined);
}

/**
 * The configuration with the key in plain text, for the voice service. @throws ServiceError condition if the key cannot
 * be opened
 */
export function openSpeech<C extends SpeechConfig>(
  path: "stt" | "tts",
  stored: StoredSpeech<C>,
  keys: ModelKeys,
  agent: AgentKey,
): C {
  const sealed = stored.endpoint?.sealedApiKey;
  if (sealed === undefined) return speechWithoutKey(stored);
  const apiKey = openKey(sealed, useOf(agent, addressOfSpeech(stored)), keys);
  if (apiKey !== null) return revealed(stored, apiKey);
  throw new ServiceError("condition", `${path}.params.api_key of the agent cannot be read: set it again`);
}

function revealed<C extends SpeechConfig>(stored: StoredSpeech<C>, apiKey: string | undefined): C {
  const { baseUrl, keySecret } = stored.endpoint ?? {};
  const endpoint = stored.endpoint && { baseUrl, keySecret, apiKey };
  return { ...stored, endpoint } as C;
}
