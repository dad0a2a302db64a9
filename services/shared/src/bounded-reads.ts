import { byteShares } from "./byte-shares.ts";
import { PAGE_BYTES_MAX } from "./db/bounded-page.ts";
import type { Call } from "./rpc/server.ts";

/**
 * Reads what may be large, and keeps `bytesMax` of the owner's share of the process's memory until the answer of `call` has left.
 * @param bytesMax that the read takes from the database at most
 * @throws ServiceError rate_limited when too many of the owner's reads wait already
 */
export type BoundedRead = <T>(
  ownerId: string,
  bytesMax: number,
  call: Pick<Call, "signal" | "onSent">,
  read: () => Promise<T>,
) => Promise<T>;

/**
 * Of one process. What is read is there several times over, as rows, messages and what is sent, so the budget is a sixth of the memory that a
 * service has in `deploy/k8s`.
 */
const TOTAL_BYTES = 8 * PAGE_BYTES_MAX;
/** Two of the longest lists. */
const OWNER_BYTES = 2 * PAGE_BYTES_MAX;
const WAITING_MAX = 1_000;

export function boundedReads(): BoundedRead {
  const shares = byteShares({
    what: "reads",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: WAITING_MAX,
  });
  return async (ownerId, bytesMax, call, read) => {
    const hold = await shares.hold(ownerId, bytesMax, call.signal);
    call.onSent(hold.release);
    return read();
  };
}
