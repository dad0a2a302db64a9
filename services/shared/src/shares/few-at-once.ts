import { type ByteShares, byteShares } from "./byte-shares.ts";

/** Runs a read, or other work, when its turn comes. @throws ServiceError rate_limited when too much of the owner's waits */
export type FewAtOnce = <T>(ownerId: string, gone: AbortSignal, read: () => Promise<T>) => Promise<T>;

/** The signal of a client that never leaves: of work that is done even if nobody waits for it. */
export const NEVER_GONE = new AbortController().signal;

export interface FewAtOnceSettings {
  /** The kind of reads, in the plural, for the error message. */
  what: string;
  /** Whose reads they are, for the error message; "This account" by default. */
  whose?: string;
  /** Concurrent reads per owner and process. */
  atOnce: number;
  /** Concurrent reads of all owners, who take turns; by default as many as there are owners. */
  totalAtOnce?: number;
  waitingMax: number;
}

export function fewAtOnce({
  what,
  whose = "This account",
  atOnce,
  totalAtOnce = Number.POSITIVE_INFINITY,
  waitingMax,
}: FewAtOnceSettings): FewAtOnce {
  return inTurns(byteShares({ what, whose, totalBytes: totalAtOnce, ownerBytes: atOnce, waitingMax }));
}

/** Does the same with shares; each read holds one. */
function inTurns(shares: ByteShares): FewAtOnce {
  return async (ownerId, gone, read) => {
    // Skips the read when its caller has left.
    gone.throwIfAborted();
    const share =
      shares.tryHold(ownerId, 1) ??
      (await shares.hold(ownerId, 1, gone).catch((error) => {
        gone.throwIfAborted();
        throw error;
      }));
    try {
      return await read();
    } finally {
      share.release();
    }
  };
}

/**
 * Shares for callbacks whose sender is not verified yet, by the id that they name. Anyone may send them, and verifying one takes
 * much more work than sending it.
 */
export function fewUnverified(): FewAtOnce {
  return fewAtOnce({ what: "callbacks", whose: "This connection", atOnce: 2, totalAtOnce: 4, waitingMax: 1_000 });
}
