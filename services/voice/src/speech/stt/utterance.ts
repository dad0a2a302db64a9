import { joined, type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";

/** What a user says from a silence to the next one. */
interface Utterance {
  /** @returns whether there is sound in the audio */
  push(audio: Pcm): boolean;
  /** The whole audio with a little silence at its end; null if only silence was pushed. */
  audio(): Pcm | null;
  samples(): number;
  /** Since the last sound. */
  silentSamples(): number;
  /**
   * Ends it. Sound that began a moment ago, after a pause, belongs to the next one: whoever ends an utterance decides so when the user is
   * silent, and learns late that the user has continued.
   */
  end(): { audio: Pcm | null; next: Utterance };
}

/** How much is kept before the first sound. */
const LEAD_SAMPLES = SAMPLES_PER_SECOND / 2;
/** How much is kept behind the last sound: no more, so that the same words are the same audio, whenever their end is noticed. */
const TAIL_SAMPLES = (3 * SAMPLES_PER_SECOND) / 20;
/** More than the voice detector needs to notice a voice. */
const CONTINUED_SAMPLES_MAX = SAMPLES_PER_SECOND / 5;

export function newUtterance(detect: (audio: Pcm) => boolean): Utterance {
  const pieces: Pcm[] = [];
  let samples = 0;
  let silentSamples = 0;
  let hasSound = false;
  /** The number of pieces until the last sound. */
  let sounding = 0;
  /** Where the sound after the last pause began: the samples before it, the pieces before it and before the pause, and how long that was. */
  let continued = { at: 0, pieces: 0, pause: 0, silentSamples: 0 };
  const dropLead = () => {
    for (let first = pieces[0]; first && samples - first.length >= LEAD_SAMPLES; first = pieces[0]) {
      samples -= first.length;
      pieces.shift();
    }
  };
  const heard = () => {
    if (!hasSound) return null;
    const whole = joined(pieces, samples);
    return whole.subarray(0, samples - Math.max(0, silentSamples - TAIL_SAMPLES));
  };
  return {
    push: (audio) => {
      const isSound = detect(audio);
      if (isSound && hasSound && silentSamples >= TAIL_SAMPLES)
        continued = { at: samples, pieces: pieces.length, pause: sounding, silentSamples };
      pieces.push(audio);
      if (isSound) sounding = pieces.length;
      samples += audio.length;
      silentSamples = isSound ? 0 : silentSamples + audio.length;
      hasSound ||= isSound;
      if (!hasSound) dropLead();
      return isSound;
    },
    audio: heard,
    samples: () => samples,
    silentSamples: () => silentSamples,
    end: () => {
      const next = newUtterance(detect);
      const hasContinued = continued.at > 0 && samples - continued.at <= CONTINUED_SAMPLES_MAX;
      // With the silence before its first sound, as any other.
      for (const piece of pieces.slice(hasContinued ? continued.pause : sounding)) next.push(piece);
      if (hasContinued) {
        pieces.length = continued.pieces;
        ({ at: samples, silentSamples } = continued);
      }
      return { audio: heard(), next };
    },
  };
}
