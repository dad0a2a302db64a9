import { meterBodies } from "@parley/shared/egress/meter";
import { type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";

/** Bytes of answers of tools' servers under way, of all owners and of one. */
const TOTAL_BYTES = 64 * 1024 * 1024;
const OWNER_BYTES = 16 * 1024 * 1024;

export const TOO_MANY_ANSWERS = "This account's tools receive too much at once, so this answer was cut off";

interface Counting {
  ownerId: string;
  signal: AbortSignal;
  /** There is no room: it must abort the signal. */
  full(): void;
  /** A body has arrived, or failed. */
  ended?(): void;
}

export function answerShares(): ByteShares {
  return byteShares({
    what: "answers of tools",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: 0,
  });
}

/** Counts the bodies of a signal's requests in their owner's share as they arrive, until the result is called. */
export function countAnswers(shares: ByteShares, { ownerId, signal, full, ended = () => {} }: Counting): () => void {
  // There is always room for nothing.
  const hold = shares.tryHold(ownerId, 0);
  meterBodies(signal, { ownerId, ended, received: (bytes) => void (hold?.grow(bytes) || full()) });
  return () => hold?.release();
}
