import type { Pcm } from "./pcm.ts";

// Reads Ogg files with one stream of Opus: https://www.rfc-editor.org/rfc/rfc3533, https://www.rfc-editor.org/rfc/rfc7845.

/** The error for data that is not an Ogg file of Opus. The message says what it is. */
export class OggError extends Error {
  override readonly name = "OggError";
}

/** Positions in Ogg files of Opus count samples at this rate, whatever the audio's own. */
const GRANULES_PER_SECOND = 48_000;
const PAGE_HEADER_BYTES = 27;
const SEGMENT_BYTES_MAX = 255;
/** Opus packets have at most 120 ms and 61,440 bytes. */
const PACKET_BYTES_MAX = 61_440;

interface OggOpus {
  /** What a decoder produces before the audio begins, in seconds. */
  leadSeconds: number;
  packets: Generator<Uint8Array>;
}

/**
 * Reads a whole Ogg file. Other streams in it are skipped.
 * @throws OggError, from the packets too
 */
export function readOggOpus(file: Uint8Array): OggOpus {
  const packets = packetsIn(file);
  const head = packets.next().value;
  if (!head || !startsWith(head, "OpusHead") || head.length < 19) throw new OggError("an Ogg file without Opus audio");
  const leadSeconds = viewOf(head).getUint16(10, true) / GRANULES_PER_SECOND;
  // The second packet has the tags.
  packets.next();
  return { leadSeconds, packets };
}

/** The packets of the first stream. A packet is a run of segments that ends with one of fewer than 255 bytes. */
function* packetsIn(file: Uint8Array): Generator<Uint8Array> {
  let serial: number | null = null;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for (let at = 0; at < file.length; ) {
    if (!startsWith(file.subarray(at), "OggS") || at + PAGE_HEADER_BYTES > file.length)
      throw new OggError(at === 0 ? "not an Ogg file" : "an Ogg file that is cut off");
    const segments = file.subarray(at + PAGE_HEADER_BYTES, at + PAGE_HEADER_BYTES + (file[at + 26] ?? 0));
    const own = viewOf(file).getUint32(at + 14, true);
    serial ??= own;
    at += PAGE_HEADER_BYTES + segments.length;
    for (const length of segments) {
      const part = file.subarray(at, at + length);
      at += length;
      if (part.length < length) throw new OggError("an Ogg file that is cut off");
      if (own !== serial) continue;
      parts.push(part);
      bytes += length;
      if (bytes > PACKET_BYTES_MAX) throw new OggError("an Ogg file with an invalid Opus packet");
      if (length === SEGMENT_BYTES_MAX) continue;
      yield parts.length === 1 ? part : Buffer.concat(parts);
      parts = [];
      bytes = 0;
    }
  }
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(text.length, bytes.length)).toString("latin1") === text;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** The audio without its first samples. */
export function withoutLead(samples: number): (audio: Pcm) => Pcm {
  let left = samples;
  return (audio) => {
    const skipped = Math.min(left, audio.length);
    left -= skipped;
    return audio.subarray(skipped);
  };
}
