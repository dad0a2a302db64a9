import { NeedsRoom, PAGE_BYTES_MAX, type Room } from "../db/bounded-page.ts";
import type { Call } from "../rpc/call.ts";
import { charactersOf } from "../text/length.ts";
import { byteShares } from "./byte-shares.ts";
import { expectedBytes } from "./expected-bytes.ts";
import { createPace, type Pace, type Reserved } from "./pace.ts";

/**
 * Runs a read that may be large, and reserves its bytes of the owner's share of the process's memory until the response
 * of `call` is sent. A read that needs more room than it is given runs again once there is as much, and the owner's next reads
 * wait for as much before they begin. An owner's large reads also keep a pace.
 * @param bytesMax the most that the read takes from the database
 * @param read is given the room that is reserved; if it throws NeedsRoom, `used` is what it has read in vain, and if it takes more
 *   than it was given, it has cost as much as the next
 * @throws ServiceError rate_limited when too many of the owner's reads are waiting, or a large one would wait too long
 */
export type BoundedRead = <T>(
  ownerId: string,
  bytesMax: number,
  call: Pick<Call, "signal" | "onSent">,
  read: (room: Room) => Promise<T>,
) => Promise<T>;

/** Budget of one process: a sixth of a service's memory in `deploy/k8s`, because rows, messages and response each hold a copy. */
const TOTAL_BYTES = 8 * PAGE_BYTES_MAX;
/** Room for two of the longest lists. */
const OWNER_BYTES = 2 * PAGE_BYTES_MAX;
const WAITING_MAX = 1_000;
/**
 * Held before the size is known: nearly all reads need less, and what does not fit was read in vain, by as many calls as begin at once
 * (rpc/owner-calls.ts).
 */
const FIRST_BYTES = 256 * 1024;
/** Larger reads have a pace. */
const LARGE_BYTES = 1024 * 1024;
/**
 * For an owner's large reads: per second, two of the longest transcripts; at once, the longest list. Each megabyte
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

export function boundedReads(pace: Pick<Pace, "reserve" | "count"> = createPace(LARGE)): BoundedRead {
  const shares = byteShares({
    what: "reads",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: WAITING_MAX,
  });
  const expected = expectedBytes(FIRST_BYTES);
  const unreserved = (ownerId: string): Reserved => ({ due: null, settle: (bytes) => pace.count(ownerId, bytes) });
  const largeBytes = (bytes: number) => (bytes > LARGE_BYTES ? bytes : 0);
  return async (ownerId, bytesMax, call, read) => {
    const readWithin = async (bytes: number) => {
      const { due, settle } = largeBytes(bytes) > 0 ? pace.reserve(ownerId, bytes, call.signal) : unreserved(ownerId);
      await due;
      const room: Room = { bytes, used: 0 };
      let took = 0;
      try {
        const hold = await shares.hold(ownerId, bytes, call.signal);
        call.onSent(hold.release);
        const found = await read(room).catch(asNeedsRoom);
        if (found instanceof NeedsRoom) hold.release();
        else took = charactersOf(found, bytesMax);
        took = Math.max(took, room.used);
        return { found, took, hold };
      } finally {
        settle(largeBytes(Math.max(took, room.used)));
      }
    };
    let { found, took, hold } = await readWithin(Math.min(expected.of(ownerId), bytesMax));
    while (found instanceof NeedsRoom) {
      expected.saw(ownerId, found.bytes);
      ({ found, took, hold } = await readWithin(found.bytes));
    }
    expected.saw(ownerId, took);
    hold.shrink(Math.max(took, Math.min(FIRST_BYTES, bytesMax)));
    if (took <= hold.bytes || hold.grow(took - hold.bytes)) return found;
    hold.release();
    const larger = await shares.hold(ownerId, took, call.signal);
    call.onSent(larger.release);
    return read({ bytes: Number.POSITIVE_INFINITY, used: 0 });
  };
}

function asNeedsRoom(error: unknown): NeedsRoom {
  if (error instanceof NeedsRoom) return error;
  throw error;
}
