import type { Law } from "@parley/shared/media/g711";
import { resampler } from "@parley/shared/media/resample";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";

/** A codec with the state of one stream in each direction. */
export interface Codec {
  payloadType: number;
  /** The clock rate of RTP timestamps. */
  clockHz: number;
  /** Encodes one frame. */
  encode(frame: Pcm): Uint8Array;
  /** @throws if the payload is not of this codec */
  decode(payload: Uint8Array): Pcm;
}

/** Samples a second of telephone audio. */
const TELEPHONE_HZ = 8_000;

export function telephoneCodec(law: Law, payloadType: number): Codec {
  const widen = resampler(TELEPHONE_HZ, SAMPLES_PER_SECOND);
  const narrow = resampler(SAMPLES_PER_SECOND, TELEPHONE_HZ);
  return {
    payloadType,
    clockHz: TELEPHONE_HZ,
    encode: (frame) => law.encode(narrow(frame)),
    decode: (payload) => widen(law.decode(payload)),
  };
}
