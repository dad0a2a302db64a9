import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import type { LegListener } from "../src/transport/leg.ts";

/** A listener that remembers what it was told. */
export function listening() {
  const heard: Pcm[] = [];
  const keys: string[] = [];
  const marks: string[] = [];
  const endings: string[] = [];
  const holds: boolean[] = [];
  const to: LegListener = {
    heard: (frame) => void heard.push(frame),
    pressed: (key) => void keys.push(key),
    sending: (frame) => frame,
    reached: (mark) => void marks.push(mark),
    held: (isOnHold) => void holds.push(isOnHold),
    ended: (how) => void endings.push(how),
  };
  return {
    to,
    keys,
    marks,
    endings,
    holds,
    frames: () => heard.length,
    /** Frames that are not silent throughout. */
    sounding: () => heard.filter((frame) => frame.some((sample) => sample !== 0)).length,
    /** Whether a tone of this frequency was heard, for at least as many frames. */
    heardTone: (hz: number, frames = 10) => heard.filter((frame) => strength(frame, hz) > 2_000).length >= frames,
  };
}

/** A sine tone of half the scale. */
export function tone(hz: number, seconds: number): Pcm {
  const length = Math.round(seconds * SAMPLES_PER_SECOND);
  return Int16Array.from({ length }, (_, at) => 16_000 * Math.sin((2 * Math.PI * hz * at) / SAMPLES_PER_SECOND));
}

/** The amplitude of one frequency in a frame. */
function strength(frame: Pcm, hz: number): number {
  let [real, imaginary] = [0, 0];
  for (const [at, sample] of frame.entries()) {
    real += sample * Math.cos((2 * Math.PI * hz * at) / SAMPLES_PER_SECOND);
    imaginary += sample * Math.sin((2 * Math.PI * hz * at) / SAMPLES_PER_SECOND);
  }
  return (2 * Math.hypot(real, imaginary)) / FRAME_SAMPLES;
}
