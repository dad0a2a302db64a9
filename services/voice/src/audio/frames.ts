import { FRAME_SAMPLES, type Pcm } from "./pcm.ts";

/**
 * Cuts a stream of audio into frames; the rest waits for the next piece.
 * @param samples of a frame
 */
export function framer(toFrame: (frame: Pcm) => void, samples = FRAME_SAMPLES): (audio: Pcm) => void {
  let frame = new Int16Array(samples);
  let filled = 0;
  return (audio) => {
    for (let at = 0; at < audio.length; ) {
      const part = audio.subarray(at, at + samples - filled);
      frame.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < samples) return;
      toFrame(frame);
      frame = new Int16Array(samples);
      filled = 0;
    }
  };
}
