import type { SpeechEndpoint } from "@parley/proto/parley/agent/v1/agent.ts";
import type { GetSpeechResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { noSecretKey, type RevealSecrets, secretKeys } from "@parley/shared/domain/secret-keys";

/** The speech with the values of the secrets that are its keys. @throws ServiceError condition if there is no such secret, or it cannot be a key */
export async function withSecretKeys(
  reveal: RevealSecrets,
  ownerId: string,
  speech: GetSpeechResponse,
): Promise<GetSpeechResponse> {
  const { stt, tts } = speech;
  const keys = await secretKeys(reveal, ownerId, [stt?.endpoint?.keySecret, tts?.endpoint?.keySecret]);
  const filled = (path: string, endpoint: SpeechEndpoint | undefined): SpeechEndpoint | undefined => {
    if (endpoint?.keySecret === undefined) return endpoint;
    const apiKey = keys.get(endpoint.keySecret);
    if (apiKey === undefined) throw noSecretKey(path, endpoint.keySecret);
    return { ...endpoint, apiKey };
  };
  return {
    ...speech,
    stt: stt && { ...stt, endpoint: filled("stt", stt.endpoint) },
    tts: tts && { ...tts, endpoint: filled("tts", tts.endpoint) },
  };
}
