import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";

const SAMPLES_MAX = 10 * SAMPLES_PER_SECOND;

/** What a user says before a conversation is open: the newest ten seconds. */
export function waitingAudio(): { push(audio: Pcm): void; take(): Pcm[] } {
  const pieces: Pcm[] = [];
  let samples = 0;
  return {
    push: (audio) => {
      pieces.push(audio);
      samples += audio.length;
      while (samples > SAMPLES_MAX) samples -= pieces.shift()?.length ?? samples;
    },
    take: () => {
      samples = 0;
      return pieces.splice(0);
    },
  };
}
