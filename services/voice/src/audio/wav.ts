import { resampler } from "@parley/shared/media/resample";
import { readWavHead, WavError, wavHeader } from "@parley/shared/media/wav";
import { type Pcm, SAMPLES_PER_SECOND } from "./pcm.ts";

/** A file with a longer header is not from a speech provider. */
const HEADER_BYTES_MAX = 64 * 1024;

/**
 * Reads the first channel of a WAV stream of 16-bit PCM of any rate as it arrives. The length in its header is ignored, because a
 * server that streams does not know it.
 * @throws WavError from the reader
 */
export function wavReader(): (bytes: Uint8Array) => Pcm {
  let header = new Uint8Array();
  let read: ((bytes: Uint8Array) => Pcm) | null = null;
  return (bytes) => {
    if (read) return read(bytes);
    header = Buffer.concat([header, bytes]);
    const found = readWavHead(header);
    if (found) {
      read = pcmReader(found.samplesPerSecond, found.channels);
      return read(header.subarray(found.from));
    }
    if (header.length > HEADER_BYTES_MAX) throw new WavError("a WAV file without samples");
    return new Int16Array();
  };
}

/** Reads a stream of 16-bit little-endian samples that may be cut anywhere. */
export function pcmReader(samplesPerSecond: number, channels = 1): (bytes: Uint8Array) => Pcm {
  const resample = resampler(samplesPerSecond, SAMPLES_PER_SECOND);
  const frameBytes = 2 * channels;
  let rest = new Uint8Array();
  return (bytes) => {
    const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const frames = Math.floor(all.length / frameBytes);
    rest = all.slice(frames * frameBytes);
    // A copy, because samples must begin at an even address. Bun runs on little-endian machines only.
    const samples = new Int16Array(new Uint8Array(all.subarray(0, frames * frameBytes)).buffer);
    return resample(
      channels === 1 ? samples : Int16Array.from({ length: frames }, (_, at) => samples[at * channels] ?? 0),
    );
  };
}

/** The little-endian bytes of samples. */
export function pcmBytes(audio: Pcm): Uint8Array<ArrayBuffer> {
  return new Uint8Array(audio.slice().buffer);
}

/** A whole WAV file. */
export function wavFile(audio: Pcm): Uint8Array<ArrayBuffer> {
  const bytes = pcmBytes(audio);
  const header = wavHeader({ samplesPerSecond: SAMPLES_PER_SECOND, channels: 1 }, bytes.length);
  return new Uint8Array(Buffer.concat([header, bytes]));
}
