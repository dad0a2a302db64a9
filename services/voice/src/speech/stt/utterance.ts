import { joined, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";

/** What a user says from a silence to the next one. */
export interface Utterance {
  /** @returns whether there is sound in the audio */
  push(audio: Pcm): boolean;
  /** The whole audio with a little silence at its end; null if only silence was pushed. */
  audio(): Pcm | null;
  samples(): number;
  /** Since the last sound. */
  silentSamples(): number;
}

/** How much is kept before the first sound. */
const LEAD_SAMPLES = SAMPLES_PER_SECOND / 2;
/** How much is kept behind the last sound: no more, so that the same words are the same audio, whenever their end is noticed. */
const TAIL_SAMPLES = (3 * SAMPLES_PER_SECOND) / 20;

export function newUtterance(detect: (audio: Pcm) => boolean): Utterance {
  const pieces: Pcm[] = [];
  let samples = 0;
  let silentSamples = 0;
  let hasSound = false;
  const dropLead = () => {
    for (let first = pieces[0]; first && samples - first.length >= LEAD_SAMPLES; first = pieces[0]) {
      samples -= first.length;
      pieces.shift();
    }
  };
  return {
    push: (audio) => {
      const isSound = detect(audio);
      pieces.push(audio);
      samples += audio.length;
      silentSamples = isSound ? 0 : silentSamples + audio.length;
      hasSound ||= isSound;
      if (!hasSound) dropLead();
      return isSound;
    },
    audio: () => {
      if (!hasSound) return null;
      const whole = joined(pieces, samples);
      return whole.subarray(0, samples - Math.max(0, silentSamples - TAIL_SAMPLES));
    },
    samples: () => samples,
    silentSamples: () => silentSamples,
  };
}
