import { SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { type Background, mixer } from "../../background/background.ts";

const RINGING_HZ = 425;
/** One second of the tone, four of silence (ETSI TR 101 041-2, ringing tone). */
const [TONE_SECONDS, PERIOD_SECONDS] = [1, 5];
const LOUDNESS = 4_000;

/** What a caller hears who waits for a person. @param name `ringing`; anything else is silence */
export function holdSound(name: string): Background | null {
  if (name !== "ringing") return null;
  const sound = new Int16Array(PERIOD_SECONDS * SAMPLES_PER_SECOND);
  for (let at = 0; at < TONE_SECONDS * SAMPLES_PER_SECOND; at++)
    sound[at] = Math.round(LOUDNESS * Math.sin((2 * Math.PI * RINGING_HZ * at) / SAMPLES_PER_SECOND));
  return mixer(sound, 1);
}
