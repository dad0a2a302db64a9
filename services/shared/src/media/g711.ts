/** ITU-T G.711: telephone audio, a byte a sample, 8,000 a second. */
export interface Law {
  encode(audio: Int16Array): Uint8Array;
  decode(bytes: Uint8Array): Int16Array;
  /** The byte of silence. */
  silence: number;
}

export const muLaw: Law = law(decodeMuLaw);
export const aLaw: Law = law(decodeALaw);

/** Both laws by table: a byte's sample, and for each sample the byte whose sample is nearest. */
function law(decodeByte: (byte: number) => number): Law {
  const samples = Int16Array.from({ length: 256 }, (_, byte) => decodeByte(byte));
  const bytes = nearestBytes(samples);
  return {
    // Loops, because `from` with a function takes twenty times as long.
    encode: (audio) => {
      const encoded = new Uint8Array(audio.length);
      for (let at = 0; at < audio.length; at++) encoded[at] = bytes[(audio[at] as number) + 32_768] as number;
      return encoded;
    },
    decode: (encoded) => {
      const audio = new Int16Array(encoded.length);
      for (let at = 0; at < encoded.length; at++) audio[at] = samples[encoded[at] as number] as number;
      return audio;
    },
    silence: bytes[32_768] as number,
  };
}

function nearestBytes(samples: Int16Array): Uint8Array {
  const ordered = [...samples].map((sample, byte) => ({ sample, byte })).sort((a, b) => a.sample - b.sample);
  const bytes = new Uint8Array(65_536);
  for (let sample = -32_768, at = 0; sample <= 32_767; sample++) {
    while (at + 1 < ordered.length && distance(ordered[at + 1], sample) <= distance(ordered[at], sample)) at++;
    bytes[sample + 32_768] = (ordered[at] as { byte: number }).byte;
  }
  return bytes;
}

function distance(entry: { sample: number } | undefined, sample: number): number {
  return Math.abs((entry?.sample ?? Number.POSITIVE_INFINITY) - sample);
}

/** G.711, table 2: sign, three bits of exponent, four of mantissa, all inverted. */
function decodeMuLaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 132) << ((bits >> 4) & 0x07)) - 132;
  return bits & 0x80 ? -magnitude : magnitude;
}

/** G.711, table 1: even bits inverted, the sign set for positive samples. */
function decodeALaw(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits >> 4) & 0x07;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 256) << (exponent - 1);
  return bits & 0x80 ? magnitude : -magnitude;
}
