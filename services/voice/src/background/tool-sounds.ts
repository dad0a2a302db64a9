import type { Pcm } from "../audio/pcm.ts";
import { type Background, mixer } from "./background.ts";
import { isSound, soundOf } from "./sounds.ts";

/** Quieter than the agent's voice. */
const VOLUME = 0.3;

/**
 * Mixes the sounds of tools that run into the outgoing audio of one call. A sound that was not played before begins once it is generated.
 * @returns what to send in place of a frame; `name` is the sound to be heard, null for none; an unknown one is silent
 */
export function toolSounds(): (frame: Pcm | null, name: string | null) => Pcm | null {
  let playing: { name: string; sound: Background | null } | null = null;
  return (frame, name) => {
    if (name === null || !isSound(name)) {
      playing = null;
      return frame;
    }
    if (playing?.name !== name) {
      const begun: NonNullable<typeof playing> = { name, sound: null };
      playing = begun;
      void soundOf(name).then((samples) => {
        begun.sound = mixer(samples, VOLUME);
      });
    }
    return playing.sound ? playing.sound(frame) : frame;
  };
}
