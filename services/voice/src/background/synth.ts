import { SAMPLES_PER_SECOND } from "../audio/pcm.ts";

// The parts of sounds. Everything is computed from a seed, so no recording is copied, and every process plays the same sound.

export type Random = () => number;

/** Pseudorandom numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Returns the next sample. */
export type Source = () => number;

/** Noise through a one-pole low-pass filter. */
export function rumble(cutoffHz: number, next: Random): Source {
  const share = 1 - Math.exp((-2 * Math.PI * cutoffHz) / SAMPLES_PER_SECOND);
  let level = 0;
  return () => {
    level += share * (2 * next() - 1 - level);
    return level;
  };
}

/** A band-pass filter around a frequency. */
export function resonator(hz: number, bandwidthHz: number): (input: number) => number {
  const radius = Math.exp((-Math.PI * bandwidthHz) / SAMPLES_PER_SECOND);
  const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / SAMPLES_PER_SECOND);
  let [last, before] = [0, 0];
  return (input) => {
    const output = (1 - radius) * input + turn * last - radius * radius * before;
    before = last;
    last = output;
    return output;
  };
}

/** Someone who talks too far away to be understood: syllables of a pitch of their own, with pauses. */
export function murmur(next: Random): Source {
  const pitchHz = 90 + 130 * next();
  let phase = 0;
  let left = Math.floor(next() * SAMPLES_PER_SECOND);
  let length = left;
  let loudness = 0;
  let formants = [resonator(500, 90), resonator(1_500, 140)];
  return () => {
    if (left-- <= 0) {
      const isPause = next() < 0.25;
      length = Math.floor((isPause ? 0.2 + 0.9 * next() : 0.1 + 0.18 * next()) * SAMPLES_PER_SECOND);
      left = length;
      loudness = isPause ? 0 : 0.4 + 0.6 * next();
      formants = [resonator(300 + 500 * next(), 90), resonator(900 + 1_300 * next(), 140)];
    }
    phase += (pitchHz * (1 + 0.1 * Math.sin(left / 4_000))) / SAMPLES_PER_SECOND;
    if (phase >= 1) phase -= 1;
    const voice = (1 - 2 * phase + 0.3 * (2 * next() - 1)) * loudness * Math.sin((Math.PI * left) / length);
    return formants.reduce((sum, formant) => sum + formant(voice), 0);
  };
}

/** Short sounds of one kind, at irregular times. */
export function events(perSecond: number, strike: () => Source, seconds: number, next: Random): Source {
  const length = Math.floor(seconds * SAMPLES_PER_SECOND);
  let sound: Source = () => 0;
  let left = 0;
  return () => {
    if (left === 0 && next() < perSecond / SAMPLES_PER_SECOND) {
      sound = strike();
      left = length;
    }
    if (left === 0) return 0;
    left--;
    return sound() * (left / length) ** 3;
  };
}
