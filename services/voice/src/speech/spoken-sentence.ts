import type { TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { joined, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { speakWhole } from "./speak-whole.ts";
import type { TextToSpeech } from "./tts.ts";

const SAMPLES_MAX = 60 * SAMPLES_PER_SECOND;

/**
 * What a voice says, up to a minute.
 * @throws ServiceError when the provider fails; the signal's reason
 */
export async function spokenSentence(
  voice: TextToSpeech,
  { modelName: model, voiceId, language, speed }: TtsConfig,
  sentence: string,
  signal: AbortSignal,
): Promise<Pcm> {
  const pieces: Pcm[] = [];
  let samples = 0;
  const take = (audio: Pcm) => {
    pieces.push(audio.slice(0, SAMPLES_MAX - samples));
    samples = Math.min(SAMPLES_MAX, samples + audio.length);
    return samples === SAMPLES_MAX;
  };
  const options = { model, voiceId, language, speed, params: {} };
  await speakWhole(voice, { sentences: [sentence], options, take }, signal);
  return joined(pieces, samples);
}
