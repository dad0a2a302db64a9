import type { TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { joined, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { speakWhole } from "./speak-whole.ts";
import type { TextToSpeech } from "./tts.ts";

/**
 * What a voice says, up to so many seconds.
 * @throws ServiceError when the provider fails; the signal's reason
 */
export async function spokenSentence(
  voice: TextToSpeech,
  { modelName: model, voiceId, language, speed }: TtsConfig,
  sentence: string,
  secondsMax: number,
  signal: AbortSignal,
): Promise<Pcm> {
  const samplesMax = secondsMax * SAMPLES_PER_SECOND;
  const pieces: Pcm[] = [];
  let samples = 0;
  const take = (audio: Pcm) => {
    pieces.push(audio.slice(0, samplesMax - samples));
    samples = Math.min(samplesMax, samples + audio.length);
    return samples === samplesMax;
  };
  const options = { model, voiceId, language, speed, params: {} };
  await speakWhole(voice, { sentences: [sentence], options, take }, signal);
  return joined(pieces, samples);
}
