import { SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";

/** The speech settings of agents that have none. */
export interface DefaultSpeech {
  stt: SttConfig | undefined;
  tts: TtsConfig | undefined;
}

/** The agent's own speech, completed by the operator's. An agent with speech-to-speech needs neither. */
export function withDefaults(own: GetSpeechResponse, defaults: DefaultSpeech): GetSpeechResponse {
  if (own.sts) return own;
  return { ...own, stt: own.stt ?? defaults.stt, tts: own.tts ?? defaults.tts };
}

/**
 * Reads a setting such as `{"provider_name": "DEEPGRAM", "model_name": "nova-3"}`, in the form of the API.
 * @throws Error saying what is wrong
 */
export function parseDefaultStt(text: string): SttConfig {
  const { provider_name: providerName, model_name: modelName, language, params } = read(text);
  return SttConfig.fromPartial({
    providerName: textOf(providerName, "provider_name"),
    modelName: textOf(modelName, "model_name"),
    ...(typeof language === "string" && { language }),
    ...endpointOf(params),
  });
}

/** The same, such as `{"provider_name": "ELEVENLABS", "voice_id": "…"}`. @throws Error saying what is wrong */
export function parseDefaultTts(text: string): TtsConfig {
  const { provider_name: providerName, voice_id: voiceId, model_name: modelName, language, params } = read(text);
  return TtsConfig.fromPartial({
    providerName: textOf(providerName, "provider_name"),
    voiceId: textOf(voiceId, "voice_id"),
    ...(typeof modelName === "string" && { modelName }),
    ...(typeof language === "string" && { language }),
    ...endpointOf(params),
  });
}

function endpointOf(params: unknown) {
  const { base_url: baseUrl, api_key: apiKey } = (params ?? {}) as Record<string, unknown>;
  if (typeof baseUrl !== "string") return {};
  return { endpoint: { baseUrl, ...(typeof apiKey === "string" && { apiKey }) } };
}

function read(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("must be a JSON object, as in an agent");
  return value as Record<string, unknown>;
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "") throw new Error(`must have ${name}`);
  return value;
}
