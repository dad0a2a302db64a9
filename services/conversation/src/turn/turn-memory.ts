import { type ByteShares, byteShares } from "@parley/shared/byte-shares";
import { ServiceError } from "@parley/shared/errors";
import { type FewAtOnce, fewAtOnce } from "@parley/shared/few-at-once";
import type { Call } from "@parley/shared/rpc/call";
import type { ModelRequest } from "../model/port.ts";

/** Of a turn with a reply, a prompt and a session of usual length; what is longer takes the rest from another budget. */
const USUAL_BYTES = 96 * 1024;
/** Of that other budget, for each turn that an owner may have; of long texts far more garbage is in memory than text. */
const LONG_BYTES = 40 * 1024;
/** By which a hold grows, so that the words of a reply are not counted one by one. */
const STEP_BYTES = 64 * 1024;
/** Turns of one owner that are accepted at once: fewer than the process has database connections, so others always find one. */
const ACCEPTING_MAX = 6;
/** A text, and a copy of it on its way to or from somebody. */
const BYTES_PER_CHARACTER = 2;
/** What arrives is there as bytes and as text. */
const BYTES_PER_RECEIVED = 2;
/** Owners that may take up all of their shares at once. */
const OWNERS = 3;

/** The memory of a process that turns under way may take, shared out among owners. */
export interface TurnShares {
  usual: ByteShares;
  long: ByteShares;
  /** Turns that are being accepted, one each. */
  accepting: FewAtOnce;
}

/** What one turn holds of its owner's share of this process's memory. */
export interface TurnMemory {
  /**
   * Makes sure that the turn holds so many bytes. When they are too many, all but what is usual is given back at once, for the owner's
   * other turns, and this one has to end.
   */
  holds(bytes: number): boolean;
  /** Keeps what is held until what it returns is called. */
  keep(): () => void;
}

/** @param ownerTurnsMax turns of usual length that one owner may have under way in this process */
export function turnShares(ownerTurnsMax: number): TurnShares {
  const sharesOf = (what: string, turnBytes: number) => {
    const ownerBytes = ownerTurnsMax * turnBytes;
    return byteShares({ what, totalBytes: OWNERS * ownerBytes, ownerBytes, waitingMax: 0 });
  };
  const accepting = fewAtOnce({ what: "chat turns", atOnce: ACCEPTING_MAX, waitingMax: ownerTurnsMax });
  return { usual: sharesOf("chat turns", USUAL_BYTES), long: sharesOf("long chat turns", LONG_BYTES), accepting };
}

/**
 * Takes the memory of a turn, held until its answer has left and nobody keeps it any more.
 * @throws ServiceError rate_limited when the owner has too many turns under way
 */
export async function takeTurnMemory(
  shares: TurnShares,
  ownerId: string,
  call: Pick<Call, "onSent">,
): Promise<TurnMemory> {
  const usual = await shares.usual.hold(ownerId, USUAL_BYTES);
  const long = await shares.long.hold(ownerId, 0);
  let keepers = 0;
  const keep = () => {
    keepers++;
    return () => {
      if (--keepers > 0) return;
      usual.release();
      long.release();
    };
  };
  call.onSent(keep());
  return {
    keep,
    holds: (bytes) => {
      const more = bytes - USUAL_BYTES - long.bytes;
      if (more <= 0 || long.grow(Math.ceil(more / STEP_BYTES) * STEP_BYTES)) return true;
      long.shrink(0);
      return false;
    },
  };
}

/** Tells whether a turn finds room for its request, so many characters of a reply and so many bytes that just arrived. */
export function roomFor(
  memory: TurnMemory,
  { system, messages }: ModelRequest,
): (said: number, received?: number) => boolean {
  const asked = messages.reduce((sum, { content }) => sum + content.length, system.length);
  return (said, received = 0) => memory.holds((asked + said) * BYTES_PER_CHARACTER + received * BYTES_PER_RECEIVED);
}

export function outOfTurnMemory(): ServiceError {
  const detail =
    "The long replies of this account that are under way take up all of its share, so this one was cut off";
  return new ServiceError("rate_limited", `${detail}: try again`, { retryAfterMs: 1_000 });
}
