/** Numbers in a part; a multiple of 8. */
export const PART = 2_048;
/** Parts that are merged into a block. */
export const BLOCK_PARTS = 32;

/** A set of an owner's numbers, one bit for each. */
export type NumberSet = Uint8Array;

const BYTES = PART / 8;
/** With this many numbers in a part, bits take less space than two bytes per number. */
const DENSE = BYTES / 2;
const HEADER = 6;

export function emptySet(parts: number): NumberSet {
  return new Uint8Array(parts * BYTES);
}

/**
 * Encodes the numbers of one part for `search_terms`: the part (4 bytes), the count (2 bytes), then each number's place
 * in the part (2 bytes), or one bit per place. Encoded pieces can be concatenated in any way and stay readable.
 * @param places in the part, ascending
 */
export function encodePlaces(part: number, places: readonly number[]): Buffer {
  const isDense = places.length >= DENSE;
  const bytes = Buffer.alloc(HEADER + (isDense ? BYTES : places.length * 2));
  bytes.writeUInt32LE(part, 0);
  bytes.writeUInt16LE(places.length, 4);
  for (const [at, place] of places.entries()) {
    if (isDense) setBit(bytes, HEADER * 8 + place);
    else bytes.writeUInt16LE(place, HEADER + at * 2);
  }
  return bytes;
}

/** Adds the numbers of any number of encoded pieces; skips parts beyond the set's size. */
export function addEncoded(set: NumberSet, pieces: Buffer): void {
  for (let at = 0; at < pieces.length; ) {
    const start = pieces.readUInt32LE(at) * BYTES;
    const count = pieces.readUInt16LE(at + 4);
    at += HEADER;
    const isDense = count >= DENSE;
    const end = at + (isDense ? BYTES : count * 2);
    if (start < set.length) {
      if (isDense) for (let byte = 0; byte < BYTES; byte++) setBits(set, start + byte, pieces[at + byte] ?? 0);
      else for (let place = at; place < end; place += 2) setBit(set, start * 8 + pieces.readUInt16LE(place));
    }
    at = end;
  }
}

/** Removes from the first set what is not in the second. */
export function intersect(set: NumberSet, other: NumberSet): void {
  for (let byte = 0; byte < set.length; byte++) set[byte] = (set[byte] ?? 0) & (other[byte] ?? 0);
}

export function add(set: NumberSet, number: number): void {
  if (number >> 3 < set.length) setBit(set, number);
}

export function remove(set: NumberSet, number: number): void {
  const byte = number >> 3;
  if (byte < set.length) set[byte] = (set[byte] ?? 0) & ~(1 << (number & 7));
}

export function removePart(set: NumberSet, part: number): void {
  set.fill(0, part * BYTES, (part + 1) * BYTES);
}

export function countOfPart(set: NumberSet, part: number): number {
  let count = 0;
  for (let byte = part * BYTES; byte < (part + 1) * BYTES; byte++) count += BITS[set[byte] ?? 0] ?? 0;
  return count;
}

/** The numbers in ascending order. */
export function* numbersOfPart(set: NumberSet, part: number): Generator<number> {
  for (let byte = part * BYTES; byte < (part + 1) * BYTES; byte++) {
    for (let bits = set[byte] ?? 0; bits !== 0; bits &= bits - 1) yield byte * 8 + (31 - Math.clz32(bits & -bits));
  }
}

function setBit(bytes: Uint8Array, bit: number): void {
  setBits(bytes, bit >> 3, 1 << (bit & 7));
}

function setBits(bytes: Uint8Array, byte: number, bits: number): void {
  bytes[byte] = (bytes[byte] ?? 0) | bits;
}

/** The number of set bits in each byte value. */
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);
