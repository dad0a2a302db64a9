import type {
  ModelPrice,
  SpeechEndpoint,
  StartWebhook,
  SttConfig,
  TtsConfig,
} from "@parley/proto/parley/agent/v1/agent.ts";

/** A key as an agent's configurations have it: only its mask can be shown. The text is stored apart (agent-keys.ts). */
export interface SealedKey {
  sealedApiKey?: string;
  apiKeyMask?: string;
  /** Which of the agent's keys for one use it is; absent without a key. */
  keyPlace?: number;
}

/** A key that is one of the owner's secrets, in the place of a text. */
export interface NamedKey {
  keySecret?: string | undefined;
}

/** What a key of an agent is for: the rest of `KeyUse`. */
export interface KeyAddress {
  providerName: string;
  baseUrl: string | undefined;
}

/** An LLM configuration as stored: the key is sealed, and only its mask can be shown. */
export interface StoredLlm {
  providerName: string;
  modelName: string;
  params: StoredParams;
  fallbacks: StoredLlm[];
  /** As the owner of a CUSTOM_LLM states it. */
  price?: ModelPrice | undefined;
}

export interface StoredParams extends SealedKey, NamedKey {
  temperature?: number | undefined;
  baseUrl?: string | undefined;
  apiType?: string | undefined;
}

export interface SpeechConfig {
  providerName: string;
  endpoint: SpeechEndpoint | undefined;
}

/** A speech configuration as stored. */
export type StoredSpeech<C extends SpeechConfig> = Omit<C, "endpoint"> & { endpoint?: StoredEndpoint | undefined };

interface StoredEndpoint extends SealedKey, NamedKey {
  baseUrl: string;
}

/** A start webhook as stored: the values of headers and the secret are sealed. */
export interface StoredStartWebhook extends Omit<StartWebhook, "headers" | "secret"> {
  headers: StoredHeader[];
  secret: SealedKey;
}

/** Its value is a text, or the name of one of the owner's secrets. */
export interface StoredHeader {
  name: string;
  text?: SealedKey;
  secret?: string;
}

export interface FieldsWithKeys {
  stt: StoredSpeech<SttConfig> | null;
  llm: StoredLlm | null;
  tts: StoredSpeech<TtsConfig> | null;
  startWebhook: StoredStartWebhook | null;
}

export function addressOfModel({ providerName, params }: Pick<StoredLlm, "providerName" | "params">): KeyAddress {
  return { providerName, baseUrl: params.baseUrl };
}

export function addressOfSpeech(config: {
  providerName: string;
  endpoint?: Pick<StoredEndpoint, "baseUrl"> | undefined;
}): KeyAddress {
  return { providerName: config.providerName, baseUrl: config.endpoint?.baseUrl };
}

/** A signature tells a server nothing of the secret, so it may stay when the address changes. */
export const ADDRESS_OF_START_SECRET: KeyAddress = { providerName: "start_webhook.secret", baseUrl: undefined };

export function addressOfStartHeader(url: string, name: string): KeyAddress {
  return { providerName: `start_webhook.headers.${name}`, baseUrl: url };
}

/** The same fields with each key as `change` makes it; it is asked only where there is one. */
export function withEachKey(
  { stt, llm, tts, startWebhook }: FieldsWithKeys,
  change: (key: SealedKey, address: KeyAddress) => SealedKey,
): FieldsWithKeys {
  const changed = <T extends SealedKey>(holder: T, address: KeyAddress): T => {
    const { sealedApiKey, apiKeyMask, keyPlace, ...rest } = holder;
    if (keyPlace === undefined) return holder;
    return { ...rest, ...change({ sealedApiKey, apiKeyMask, keyPlace } as SealedKey, address) } as T;
  };
  const ofSpeech = <C extends SpeechConfig>(config: StoredSpeech<C>): StoredSpeech<C> =>
    config.endpoint ? { ...config, endpoint: changed(config.endpoint, addressOfSpeech(config)) } : config;
  const ofModel = (config: StoredLlm): StoredLlm => ({
    ...config,
    params: changed(config.params, addressOfModel(config)),
    fallbacks: config.fallbacks.map(ofModel),
  });
  return {
    stt: stt && ofSpeech(stt),
    llm: llm && ofModel(llm),
    tts: tts && ofSpeech(tts),
    startWebhook: startWebhook && {
      ...startWebhook,
      secret: changed(startWebhook.secret, ADDRESS_OF_START_SECRET),
      headers: startWebhook.headers.map((header) =>
        header.text
          ? { ...header, text: changed(header.text, addressOfStartHeader(startWebhook.url, header.name)) }
          : header,
      ),
    },
  };
}
