import { Decoder, Encoder } from "@evan/opus";
import { type Pcm, SAMPLES_PER_SECOND } from "./pcm.ts";

/** Trades quality for CPU time: 10, the default, takes twice as long for speech that sounds the same. */
const COMPLEXITY = 5;
/** In bits a second. Speech at 16 kHz gains nothing from more. */
const BITRATE = 24_000;

/** Opus' own delay at 16 kHz, which players skip. */
export const LEAD_SAMPLES = (SAMPLES_PER_SECOND * 65) / 10_000;

/** One stream of Opus (RFC 6716) in each direction. */
interface Opus {
  /** Encodes one frame. */
  encode(frame: Pcm): Uint8Array;
  /** @throws if the packet is malformed */
  decode(packet: Uint8Array): Pcm;
}

export function opus(): Opus {
  const encoder = new Encoder({ channels: 1, sample_rate: SAMPLES_PER_SECOND, application: "voip" });
  encoder.complexity = COMPLEXITY;
  encoder.bitrate = BITRATE;
  const decoder = new Decoder({ channels: 1, sample_rate: SAMPLES_PER_SECOND });
  return {
    encode: (frame) => encoder.encode(frame),
    decode: (packet) => {
      const bytes = decoder.decode(packet);
      return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
    },
  };
}
