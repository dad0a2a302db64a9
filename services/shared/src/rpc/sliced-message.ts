import { BinaryWriter } from "@bufbuild/protobuf/wire";

/** A message type, as ts-proto generates it. */
export interface Codec<T> {
  encode(message: T, writer?: BinaryWriter): BinaryWriter;
}

/** An encoded message; only a slice of it is in memory at a time. */
export interface SlicedMessage {
  byteLength: number;
  /** The bytes in slices of at most `SLICE_BYTES`, each produced on demand. */
  slices: Iterable<Uint8Array>;
}

export const SLICE_BYTES = 64 * 1024;
/** At most three bytes each. */
const PIECE_CHARACTERS = 16 * 1024;
/** Shorter texts are encoded together with what surrounds them. */
const LONG_CHARACTERS = 4 * 1024;

/**
 * Encodes a message except for its long texts, which are encoded slice by slice. Encoding megabytes at once blocks the
 * event loop.
 */
export function sliceMessage<T>(codec: Codec<T>, message: T): SlicedMessage {
  const { writer, finish } = partsWriter();
  codec.encode(message, writer);
  const { byteLength, parts } = finish();
  return { byteLength, slices: { [Symbol.iterator]: () => slicesOf(parts) } };
}

/** Encoded bytes, or a text that is not encoded yet. */
type Part = Uint8Array | string;

/** A message that is being written, inside others. */
interface Level {
  /** What follows `parts`. */
  tail: BinaryWriter;
  parts: Part[];
  /** Bytes in `parts`. */
  partBytes: number;
}

/** A writer for generated code: `BinaryWriter` with long texts kept aside, one for each level of nesting. */
function partsWriter() {
  const levels: Level[] = [newLevel()];
  let depth = 0;
  let top = levels[0] as Level;

  const writer = {
    uint32: (value: number) => wrote(top.tail.uint32(value)),
    int32: (value: number) => wrote(top.tail.int32(value)),
    int64: (value: number | bigint | string) => wrote(top.tail.int64(value)),
    bool: (value: boolean) => wrote(top.tail.bool(value)),
    double: (value: number) => wrote(top.tail.double(value)),
    bytes: (value: Uint8Array) => wrote(top.tail.bytes(value)),
    string: (value: string) => {
      if (value.length < LONG_CHARACTERS) return wrote(top.tail.string(value));
      const byteLength = Buffer.byteLength(value);
      top.tail.uint32(byteLength);
      closeTail(top);
      add(top, value, byteLength);
      return writer;
    },
    fork: () => {
      depth++;
      top = levels[depth] ??= newLevel();
      return writer;
    },
    join: () => {
      const inner = top;
      depth--;
      top = levels[depth] as Level;
      const rest = inner.tail.finish();
      top.tail.uint32(inner.partBytes + rest.length);
      if (inner.parts.length > 0) {
        closeTail(top);
        top.parts.push(...inner.parts);
        top.partBytes += inner.partBytes;
        inner.parts = [];
        inner.partBytes = 0;
      }
      return wrote(top.tail.raw(rest));
    },
  };
  function wrote(_: unknown) {
    return writer;
  }
  function finish() {
    closeTail(top);
    return { parts: top.parts, byteLength: top.partBytes };
  }
  return { writer: writer as unknown as BinaryWriter, finish };
}

function newLevel(): Level {
  return { tail: new BinaryWriter(), parts: [], partBytes: 0 };
}

function closeTail(level: Level): void {
  const bytes = level.tail.finish();
  if (bytes.length > 0) add(level, bytes, bytes.length);
}

function add(level: Level, part: Part, byteLength: number): void {
  level.parts.push(part);
  level.partBytes += byteLength;
}

function* slicesOf(parts: readonly Part[]): Generator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let byteLength = 0;
  for (const piece of piecesOf(parts)) {
    if (byteLength + piece.length > SLICE_BYTES) {
      yield Buffer.concat(pieces);
      pieces = [];
      byteLength = 0;
    }
    pieces.push(piece);
    byteLength += piece.length;
  }
  if (byteLength > 0) yield Buffer.concat(pieces);
}

/** Slices of a text. */
function* piecesOf(parts: readonly Part[]): Generator<Uint8Array> {
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const isText = typeof part === "string";
      const to = isText ? endOfCharacters(part, from + PIECE_CHARACTERS) : from + SLICE_BYTES;
      yield isText ? Buffer.from(part.slice(from, to)) : part.subarray(from, to);
      from = to;
    }
  }
}

/** The end of a whole character, at this index or the next: a surrogate pair is not split. */
function endOfCharacters(text: string, at: number): number {
  const last = text.charCodeAt(at - 1);
  return last >= 0xd800 && last <= 0xdbff ? at + 1 : at;
}
