import { Decoder, Encoder } from "@evan/opus";
import { SPOKEN_HZ } from "./spoken.ts";

export const FRAME_MS = 20;
export const FRAME_SAMPLES = (SPOKEN_HZ / 1_000) * FRAME_MS;

/** Opus of speech, a frame in a packet. */
export function speechOpus() {
  const encoder = new Encoder({ channels: 1, sample_rate: SPOKEN_HZ, application: "voip" });
  const decoder = new Decoder({ channels: 1, sample_rate: SPOKEN_HZ });
  return {
    /** @param frame FRAME_SAMPLES; the last one of a text may be shorter */
    encode: (frame: Int16Array): Uint8Array => {
      const whole = new Int16Array(FRAME_SAMPLES);
      whole.set(frame);
      return encoder.encode(whole).slice();
    },
    decode: (packet: Uint8Array): Int16Array => {
      const bytes = decoder.decode(packet);
      return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
    },
  };
}

/** Audio in frames, the last of which may be shorter. */
export function* framesOf(audio: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < audio.length; at += FRAME_SAMPLES) yield audio.subarray(at, at + FRAME_SAMPLES);
}
