import { type Pcm, rootMeanSquare, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";

/** The root mean square of quiet speech, and of a line without noise. */
const LEVEL_MIN = 150;
const NOISE_AT_FIRST = 50;
/** Speech is louder than noise by 12 dB. */
const ABOVE_NOISE = 4;
/** How fast the estimate of the noise rises, per second, until there is a quieter moment. */
const NOISE_GROWTH = 1.2;

/**
 * Tells audio with something to transcribe from silence and from a steady noise, to which it adapts. It costs nothing, and is not a voice activity detector: turn-taking does not use it.
 */
export function soundDetector(): (audio: Pcm) => boolean {
  let noise = NOISE_AT_FIRST;
  return (audio) => {
    const level = rootMeanSquare(audio);
    noise = Math.min(level, noise * NOISE_GROWTH ** (audio.length / SAMPLES_PER_SECOND));
    // Digital silence says nothing about the noise that comes with speech.
    noise = Math.max(noise, 1);
    return level > Math.max(LEVEL_MIN, ABOVE_NOISE * noise);
  };
}
