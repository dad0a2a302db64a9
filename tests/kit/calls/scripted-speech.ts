import { wavHeader } from "@parley/shared/media/wav";

export interface ScriptedSpeech {
  /** The `stt` and `tts` of an agent that uses it. */
  settings: { stt: object; tts: object };
  stop(): Promise<void>;
}

const HZ = 16_000;

/**
 * A speech server that hears the same words in everything, and says everything as a tone: many calls cost little.
 * @param seconds of the tone, for each sentence
 */
export function startScriptedSpeech(words: string, seconds: number): ScriptedSpeech {
  const tone = Int16Array.from({ length: HZ * seconds }, (_, at) => 8_000 * Math.sin((2 * Math.PI * 440 * at) / HZ));
  const wav = Buffer.concat([
    wavHeader({ samplesPerSecond: HZ, channels: 1 }, tone.byteLength),
    new Uint8Array(tone.buffer),
  ]);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/v1/audio/transcriptions": () => Response.json({ text: words }),
      "/v1/audio/speech": () => new Response(wav, { headers: { "Content-Type": "audio/wav" } }),
    },
  });
  const params = { base_url: `${server.url.origin}/v1` };
  return {
    settings: {
      stt: { provider_name: "CUSTOM_STT", model_name: "scripted", params },
      tts: { provider_name: "CUSTOM_TTS", voice_id: "scripted", params },
    },
    stop: () => server.stop(true),
  };
}
