import { ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import { type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";
import { type FewAtOnce, fewAtOnce, inTurns } from "@parley/shared/shares/few-at-once";
import { createPace, type Pace } from "@parley/shared/shares/pace";
import type { ModelRequest } from "../model/port.ts";
import { connectionShares } from "../store/turns/connection-shares.ts";
import { type AnswersAhead, answersAhead } from "./ask/answers-ahead.ts";

/** Memory of a turn with a reply, prompt and session of usual length. Longer ones take the rest from another budget. */
const USUAL_BYTES = 96 * 1024;
/** The other budget, per turn that an owner may have. Long texts leave far more garbage in memory than text. */
const LONG_BYTES = 40 * 1024;
/** The step by which a hold grows, so that a reply's words are not counted one by one. */
const STEP_BYTES = 64 * 1024;
/**
 * Turns of one owner that are accepted concurrently: alone, as many as two statements take, one in progress and the next. Those of one
 * statement continue together, so they are fewer while others are there.
 */
const ACCEPTING = { aloneAtOnce: 64, atOnce: 16, backlogAtOnce: 4 };
/** A text, and a copy of it in transit. */
const BYTES_PER_CHARACTER = 2;
/** What arrives is held as bytes and as text. */
const BYTES_PER_RECEIVED = 2;
/**
 * Characters of an owner's replies, per second and at once: the two longest. A thousand streams of a fast model have a quarter of it.
 */
const REPLIES = { perSecond: 2 * 1024 * 1024, atOnce: 2 * 1024 * 1024, besideOthers: 2 };
/** Owners that can use up their shares at the same time. */
const OWNERS = 3;

/** The memory that the turns of a process may use, shared among owners. */
export interface TurnShares {
  usual: ByteShares;
  long: ByteShares;
  /** Limits how many turns are accepted concurrently, together with others in one statement. */
  accepting: FewAtOnce;
  /** Paces the characters that are read of streamed replies and parsed of whole answers. */
  replies: Pace;
  /** Spreads the questions of owners whose models answer faster than their turns can read. */
  ahead: AnswersAhead;
  /** The database connections of turns that each need one to themselves. */
  connections: ByteShares;
  /** Limits how many turns are accepted concurrently with a connection of their own. */
  acceptingAlone: FewAtOnce;
}

/** The part of its owner's memory share that a turn holds. */
export interface TurnMemory {
  /**
   * Makes sure that the turn holds that many bytes. If there is no room for them, returns false and releases all but the usual
   * bytes for the owner's other turns. The turn must then end.
   */
  holds(bytes: number): boolean;
  /** Keeps the held memory. @returns a function that releases it */
  keep(): () => void;
}

/** @param ownerTurnsMax concurrent turns of usual length that one owner may have in this process */
export function turnShares(ownerTurnsMax: number): TurnShares {
  const sharesOf = (what: string, turnBytes: number) => {
    const ownerBytes = ownerTurnsMax * turnBytes;
    return byteShares({ what, totalBytes: OWNERS * ownerBytes, ownerBytes, waitingMax: 0 });
  };
  const accepting = fewAtOnce({ what: "chat turns", ...ACCEPTING, waitingMax: ownerTurnsMax });
  const connections = connectionShares();
  return {
    usual: sharesOf("chat turns", USUAL_BYTES),
    long: sharesOf("long chat turns", LONG_BYTES),
    accepting,
    replies: createPace(REPLIES),
    ahead: answersAhead(),
    connections,
    acceptingAlone: inTurns(connections),
  };
}

/**
 * Reserves a turn's memory. It is held until the answer has left and all its keepers have released it.
 * @throws ServiceError rate_limited when the owner has too many turns in progress
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

/** @returns a function that tells whether there is room for the request, for the reply so far and for bytes that just arrived */
export function roomFor(
  memory: TurnMemory,
  { system, messages }: ModelRequest,
): (said: number, received?: number) => boolean {
  const asked = messages.reduce((sum, { content }) => sum + content.length, system.length);
  return (said, received = 0) => memory.holds((asked + said) * BYTES_PER_CHARACTER + received * BYTES_PER_RECEIVED);
}

export function outOfTurnMemory(): ServiceError {
  const detail = "This account's long replies in progress have used up its share of memory, so this reply was cut off";
  return new ServiceError("rate_limited", `${detail}: try again`, { retryAfterMs: 1_000 });
}
