/** The numbers of a source's packets: their sequence numbers, counted on when these wrap (RFC 3711, sections 3.3.1 and 3.3.2). */
export interface PacketNumbers {
  /** The number with this sequence number that is nearest to the highest so far. Negative for one before the first. */
  guess(sequence: number): number;
  /** Whether this packet was kept already, or is so late that it might have been. */
  isOld(number: number): boolean;
  keep(number: number): void;
}

const WRAP = 2 ** 16;
/** Late packets are told from repeated ones up to here. */
const WINDOW = 64;
const WINDOW_MASK = (1n << BigInt(WINDOW)) - 1n;

export function packetNumbers(): PacketNumbers {
  let highest: number | null = null;
  /** A bit for each of the last packets, the lowest for the highest number. */
  let kept = 0n;
  return {
    guess: (sequence) => {
      if (highest === null) return sequence;
      const number = highest - (highest % WRAP) + sequence;
      if (number - highest > WRAP / 2) return number - WRAP;
      return highest - number >= WRAP / 2 ? number + WRAP : number;
    },
    isOld: (number) => {
      if (number < 0) return true;
      if (highest === null || number > highest) return false;
      return highest - number >= WINDOW || ((kept >> BigInt(highest - number)) & 1n) === 1n;
    },
    keep: (number) => {
      if (highest === null || number > highest) {
        const ahead = highest === null ? WINDOW : Math.min(number - highest, WINDOW);
        kept = ((kept << BigInt(ahead)) | 1n) & WINDOW_MASK;
        highest = number;
      } else kept |= 1n << BigInt(highest - number);
    },
  };
}
