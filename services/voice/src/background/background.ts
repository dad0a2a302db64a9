import { FRAME_SAMPLES, type Pcm } from "../audio/pcm.ts";
import { isSound, soundOf } from "./sounds.ts";

/** Mixes a sound behind outgoing audio. Null is silence. */
export type Background = (frame: Pcm | null) => Pcm | null;

/** The sound and volume of `background_audio: true`. */
const SOUND = "office";
const VOLUME = 0.3;

/**
 * The sound of an agent's `background_audio`; none for an unknown name.
 * @param config true, or `{ sound, volume }`; null if the agent has none
 */
export async function backgroundOf(config: Readonly<Record<string, unknown>> | null): Promise<Background | null> {
  const { sound = SOUND, volume = VOLUME } = config ?? { sound: "none" };
  if (typeof sound !== "string" || !isSound(sound) || !(Number(volume) > 0)) return null;
  return mixer(await soundOf(sound), Number(volume));
}

/** @param volume 0 to 1 */
export function mixer(sound: Pcm, volume: number): Background {
  // Calls that begin at the same time start at different positions.
  let at = Math.floor(Math.random() * sound.length);
  return (frame) => {
    const mixed = new Int16Array(FRAME_SAMPLES);
    for (let sample = 0; sample < FRAME_SAMPLES; sample++) {
      const both = (frame?.[sample] ?? 0) + volume * (sound[at] as number);
      mixed[sample] = Math.max(-32_768, Math.min(32_767, Math.round(both)));
      at = at + 1 === sound.length ? 0 : at + 1;
    }
    return mixed;
  };
}
