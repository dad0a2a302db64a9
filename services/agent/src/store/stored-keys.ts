import type { ModelPrice, SpeechEndpoint, StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";

/** A key as stored: only its mask can be shown. */
export interface SealedKey {
  sealedApiKey?: string;
  apiKeyMask?: string;
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

export interface StoredParams extends SealedKey {
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

export interface StoredEndpoint extends SealedKey {
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
