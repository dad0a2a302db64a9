import { NOISES } from "@parley/shared/domain/tests";
import { type Pcm, rootMeanSquare } from "../audio/pcm.ts";
import { soundOf } from "../background/sounds.ts";

type Noise = (typeof NOISES)[number];

/** How much louder the user is: somebody who holds the phone to their face and does not raise their voice. */
const SIGNAL_TO_NOISE_DB = 15;

export function isNoise(name: string): name is Noise {
  return (NOISES as readonly string[]).includes(name);
}

/** A voice with a noise behind it, the same for the same voice. */
export async function inNoise(name: Noise, voice: Pcm): Promise<Pcm> {
  const sound = await soundOf(name);
  const share = rootMeanSquare(voice) / rootMeanSquare(sound) / 10 ** (SIGNAL_TO_NOISE_DB / 20);
  return voice.map((sample, at) => {
    const both = Math.round(sample + share * (sound[at % sound.length] as number));
    return Math.max(-32_768, Math.min(32_767, both));
  });
}
