import * as wav from "@parley/shared/media/wav";

/** The form of audio that the stand-in hears and speaks. */
const FORM = { samplesPerSecond: 16_000, channels: 1 };

/** @param dataBytes of the samples; absent for a stream, whose length is not known yet */
export function wavHeader(dataBytes?: number): Uint8Array {
  return wav.wavHeader(FORM, dataBytes);
}

/** The samples of a WAV file of that form; null for any other file. */
export function readWav(bytes: Uint8Array): Int16Array | null {
  const read = wav.readWav(bytes);
  const isOurs = read?.channels === FORM.channels && read.samplesPerSecond === FORM.samplesPerSecond;
  return isOurs ? read.samples : null;
}
