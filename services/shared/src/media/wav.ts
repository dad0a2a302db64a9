/** 16-bit PCM. */
export interface Wav {
  samplesPerSecond: number;
  channels: number;
  /** Channel by channel for each moment. */
  samples: Int16Array;
}

const PCM = 1;
/** Says its format in a longer header. */
const EXTENSIBLE = 0xff_fe;
const HEADER_BYTES = 44;
/**
 * Rates are a multiple of one of these. The filter of a resampler is computed for each position that an output may have between two
 * samples: 16,000 positions and 0.4 s for 191,999 Hz, at most 640 and a few milliseconds for these.
 */
const RATE_UNITS = [1_000, 11_025];
/** Stands for a length that is not known yet. */
const UNKNOWN = 0xff_ff_ff_ff;

/** @param dataBytes of the samples; absent for a stream, whose length is not known yet */
export function wavHeader(
  { samplesPerSecond, channels }: Omit<Wav, "samples">,
  dataBytes?: number,
): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("RIFF", 0);
  header.writeUInt32LE(dataBytes === undefined ? UNKNOWN : HEADER_BYTES - 8 + dataBytes, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(samplesPerSecond, 24);
  header.writeUInt32LE(samplesPerSecond * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(dataBytes ?? UNKNOWN, 40);
  return new Uint8Array(header);
}

/** Null for anything that is not a WAV file of 16-bit PCM. A length that is unknown or too long means the rest. */
export function readWav(bytes: Uint8Array): Wav | null {
  try {
    const head = readWavHead(bytes);
    if (!head) return null;
    const { from, dataBytes, samplesPerSecond, channels } = head;
    const samples = Math.floor(Math.min(dataBytes, bytes.length - from) / 2);
    const data = new Uint8Array(bytes.subarray(from, from + samples * 2));
    return { samplesPerSecond, channels, samples: new Int16Array(data.buffer) };
  } catch (error) {
    if (error instanceof WavError) return null;
    throw error;
  }
}

/** The error for data that is not WAV, or a WAV of another form. The message says what it is. */
export class WavError extends Error {
  override readonly name = "WavError";
}

interface WavHead extends Omit<Wav, "samples"> {
  /** Where the samples begin. */
  from: number;
  /** The length that the file claims, which may be wrong. */
  dataBytes: number;
}

/** Reads what comes before the samples; null while that is not whole. @throws WavError */
export function readWavHead(bytes: Uint8Array): WavHead | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12) return null;
  if (textAt(bytes, 0) !== "RIFF" || textAt(bytes, 8) !== "WAVE") throw new WavError("not a WAV file");
  let form: Omit<Wav, "samples"> | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = view.getUint32(at + 4, true);
    const from = at + 8;
    if (textAt(bytes, at) === "data") {
      if (!form) throw new WavError("a WAV file that does not state its format");
      return { ...form, from, dataBytes: length };
    }
    if (textAt(bytes, at) === "fmt ") {
      if (bytes.length < from + 16) return null;
      form = readForm(view, from);
    }
    at = from + length + (length % 2);
  }
  return null;
}

function readForm(view: DataView, at: number): Omit<Wav, "samples"> {
  const [format, channels] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
  const [samplesPerSecond, bits] = [view.getUint32(at + 4, true), view.getUint16(at + 14, true)];
  if ((format !== PCM && format !== EXTENSIBLE) || bits !== 16) throw new WavError("a WAV file that is not 16-bit PCM");
  if (channels < 1 || channels > 8) throw new WavError(`a WAV file of ${channels} channels`);
  const isUsual = RATE_UNITS.some((unit) => samplesPerSecond % unit === 0);
  if (samplesPerSecond < 8_000 || samplesPerSecond > 192_000 || !isUsual)
    throw new WavError(`a WAV file of ${samplesPerSecond} samples a second`);
  return { samplesPerSecond, channels };
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
