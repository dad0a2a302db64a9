import type { Pcm } from "../audio/pcm.ts";
import { type Background, mixer } from "../background/background.ts";
import { type SoundName, soundOf } from "../background/sounds.ts";

/** The sounds that a test's user may speak in. */
export const NOISES = ["cafe", "street"] as const satisfies SoundName[];
export type Noise = (typeof NOISES)[number];

/** How much louder the user is: somebody who holds the phone to their face and does not raise their voice. */
const SIGNAL_TO_NOISE_DB = 15;
/** The root mean square of a voice at a usual loudness, for a line that only presses keys. */
const USUAL_VOICE = 3_000;

export function isNoise(name: string): name is Noise {
  return (NOISES as readonly string[]).includes(name);
}

/** A noise to be heard behind a voice, the same for the same voice. */
export async function noiseBehind(name: Noise, voice: Pcm): Promise<Background> {
  const sound = await soundOf(name);
  const level = voice.length === 0 ? USUAL_VOICE : rootMeanSquare(voice);
  return mixer(sound, level / rootMeanSquare(sound) / 10 ** (SIGNAL_TO_NOISE_DB / 20), 0);
}

function rootMeanSquare(audio: Pcm): number {
  let sum = 0;
  for (const sample of audio) sum += sample * sample;
  return Math.sqrt(sum / audio.length);
}
