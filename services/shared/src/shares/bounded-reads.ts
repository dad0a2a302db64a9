import { PAGE_BYTES_MAX } from "../db/bounded-page.ts";
import { charactersOf } from "../length.ts";
import type { Call } from "../rpc/call.ts";
import { byteShares } from "./byte-shares.ts";
import { expectedBytes } from "./expected-bytes.ts";
import { createPace, type Pace } from "./pace.ts";

/**
 * Runs a read that may be large, and reserves its bytes of the owner's share of the process's memory until the response
 * of `call` is sent. The read may run twice: a result that turns out to be large is read again once there is room for
 * it, and the owner's next reads wait for as much room before they begin. An owner's large reads also keep a pace.
 * @param bytesMax the most that the read takes from the database
 * @throws ServiceError rate_limited when too many of the owner's reads are waiting, or a large one would wait too long
 */
export type BoundedRead = <T>(
  ownerId: string,
  bytesMax: number,
  call: Pick<Call, "signal" | "onSent">,
  read: () => Promise<T>,
) => Promise<T>;

/** Budget of one process: a sixth of a service's memory in `deploy/k8s`, because rows, messages and response each hold a copy. */
const TOTAL_BYTES = 8 * PAGE_BYTES_MAX;
/** Room for two of the longest lists. */
const OWNER_BYTES = 2 * PAGE_BYTES_MAX;
const WAITING_MAX = 1_000;
/** Held before the size is known: nearly all reads need less. The number of reads that begin at once is bounded (rpc/owner-calls.ts). */
const FIRST_BYTES = 1024 * 1024;
/**
 * For an owner's reads of more than `FIRST_BYTES`: per second, two of the longest transcripts; at once, the longest list. Each megabyte
 * leaves five of garbage on its way. How many small reads there are is bounded by rate limits.
 */
const LARGE = {
  refusal: "This account's reads are too large together, try again",
  perSecond: PAGE_BYTES_MAX / 2,
  atOnce: PAGE_BYTES_MAX,
  besideOthers: 2,
  /** The gateway waits five seconds for a response. */
  waitMaxMs: 2_000,
};

export function boundedReads(pace: Pace = createPace(LARGE)): BoundedRead {
  const shares = byteShares({
    what: "reads",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: WAITING_MAX,
  });
  const expected = expectedBytes(FIRST_BYTES);
  const largeBytes = (bytes: number) => (bytes > FIRST_BYTES ? bytes : 0);
  return async (ownerId, bytesMax, call, read) => {
    const atMost = Math.min(expected.of(ownerId), bytesMax);
    const counted = largeBytes(atMost);
    if (counted > 0) await pace.take(ownerId, counted, call.signal);
    const first = await shares.hold(ownerId, atMost, call.signal);
    call.onSent(first.release);
    let bytes = 0;
    const found = await read()
      .then((read) => {
        bytes = charactersOf(read, bytesMax);
        return read;
      })
      .finally(() => pace.count(ownerId, largeBytes(bytes) - counted));
    expected.saw(ownerId, bytes);
    first.shrink(Math.max(bytes, Math.min(FIRST_BYTES, bytesMax)));
    if (bytes <= first.bytes || first.grow(bytes - first.bytes)) return found;
    first.release();
    const hold = await shares.hold(ownerId, bytes, call.signal);
    call.onSent(hold.release);
    return read();
  };
}
