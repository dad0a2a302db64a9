import { SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { readSettings, requiredText } from "@parley/shared/json/read-settings";

/** The speech settings of agents that have none. */
interface DefaultSpeech {
  stt: SttConfig | undefined;
  tts: TtsConfig | undefined;
}

/** The agent's own speech, completed by the operator's. The model of an agent with speech to speech needs nothing else to talk. */
export function withDefaults(own: GetSpeechResponse, defaults: DefaultSpeech): GetSpeechResponse {
  if (own.sts) return { ...own, stt: own.stt ?? defaults.stt };
  return { ...own, stt: own.stt ?? defaults.stt, tts: own.tts ?? defaults.tts };
}

/**
 * Reads a setting such as `{"provider_name": "DEEPGRAM", "model_name": "nova-3"}`, in the form of the API.
 * @throws Error saying what is wrong
 */
export function parseDefaultStt(text: string): SttConfig {
  const settings = readSettings(text);
  const { language, params } = settings;
  return SttConfig.fromPartial({
    providerName: requiredText(settings, "provider_name"),
    modelName: requiredText(settings, "model_name"),
    ...(typeof language === "string" && { language }),
    ...endpointOf(params),
  });
}

/** The same, such as `{"provider_name": "ELEVENLABS", "voice_id": "…"}`. @throws Error saying what is wrong */
export function parseDefaultTts(text: string): TtsConfig {
  const settings = readSettings(text);
  const { model_name: modelName, language, params } = settings;
  return TtsConfig.fromPartial({
    providerName: requiredText(settings, "provider_name"),
    voiceId: requiredText(settings, "voice_id"),
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
