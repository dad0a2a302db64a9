/** Puts Opus packets into an Ogg file (RFC 3533, RFC 7845), in pages that can be stored one by one. */
interface OggWriter {
  /** What the file begins with. */
  head(): Uint8Array;
  /** Appends a packet of this many samples. Returns the page before it if that is full, else null. */
  add(packet: Uint8Array, samples: number): Uint8Array | null;
  /** The last page. */
  end(): Uint8Array;
}

interface OggWriterOptions {
  channels: 1 | 2;
  /** The sample rate of the audio before it was encoded. */
  samplesPerSecond: number;
  /** The samples that the encoder adds before the audio, at that rate. */
  leadSamples: number;
}

/** Positions count samples at this rate, whatever the audio's own. */
const GRANULES_PER_SECOND = 48_000;
/** A page has a second of most audio: that much is missing if the writer dies, and players show no finer progress. */
const PAGE_PACKETS = 50;

const FIRST = 0x02;
const LAST = 0x04;
const SEGMENT_BYTES = 255;
const SEGMENTS_MAX = 255;

export function oggWriter(options: OggWriterOptions): OggWriter {
  const serial = crypto.getRandomValues(new Uint32Array(1))[0] as number;
  let pages = 0;
  let packets: Uint8Array[] = [];
  let segments = 0;
  let samples = 0;

  function page(flags: number, granule: number, content: readonly Uint8Array[]): Uint8Array {
    const lacing = content.flatMap(({ length }) => [
      ...new Array<number>(Math.floor(length / SEGMENT_BYTES)).fill(SEGMENT_BYTES),
      length % SEGMENT_BYTES,
    ]);
    const header = Buffer.alloc(27);
    header.write("OggS");
    header.writeUInt8(flags, 5);
    header.writeBigUInt64LE(BigInt(granule), 6);
    header.writeUInt32LE(serial, 14);
    header.writeUInt32LE(pages++, 18);
    header.writeUInt8(lacing.length, 26);
    const bytes = Buffer.concat([header, Uint8Array.from(lacing), ...content]);
    bytes.writeUInt32LE(checksum(bytes), 22);
    return bytes;
  }

  function takePage(flags: number): Uint8Array {
    const taken = page(flags, granulesOf(samples, options), packets);
    packets = [];
    segments = 0;
    return taken;
  }

  return {
    head: () => Buffer.concat([page(FIRST, 0, [identification(options)]), page(0, 0, [comments()])]),
    add: (packet, count) => {
      const added = Math.floor(packet.length / SEGMENT_BYTES) + 1;
      const full = segments + added > SEGMENTS_MAX || packets.length >= PAGE_PACKETS ? takePage(0) : null;
      packets.push(packet);
      segments += added;
      samples += count;
      return full;
    },
    end: () => takePage(LAST),
  };
}

/** RFC 7845, section 5.1. */
function identification(options: OggWriterOptions): Uint8Array {
  const header = Buffer.alloc(19);
  header.write("OpusHead");
  header.writeUInt8(1, 8);
  header.writeUInt8(options.channels, 9);
  header.writeUInt16LE(granulesOf(options.leadSamples, options), 10);
  header.writeUInt32LE(options.samplesPerSecond, 12);
  return header;
}

function granulesOf(samples: number, { samplesPerSecond }: OggWriterOptions): number {
  return Math.round((samples * GRANULES_PER_SECOND) / samplesPerSecond);
}

/** RFC 7845, section 5.2: who wrote it, and no comments. */
function comments(): Uint8Array {
  const vendor = "parley";
  const header = Buffer.alloc(8 + 4 + vendor.length + 4);
  header.write("OpusTags");
  header.writeUInt32LE(vendor.length, 8);
  header.write(vendor, 12);
  return header;
}

/** RFC 3533, section 6: CRC-32 with the polynomial 0x04c11db7, unreflected and from zero, which no library here computes. */
function checksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = (crc << 8) ^ (TABLE[((crc >>> 24) ^ byte) & 0xff] as number);
  return crc >>> 0;
}

const TABLE = Int32Array.from({ length: 256 }, (_, index) => {
  let crc = index << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80_00_00_00 ? (crc << 1) ^ 0x04_c1_1d_b7 : crc << 1;
  return crc;
});
