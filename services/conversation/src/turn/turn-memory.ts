import { ServiceError } from "@parley/shared/errors";
import { type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";
import { type FewAtOnce, fewAtOnce } from "@parley/shared/shares/few-at-once";
import type { ModelMessage, ModelRequest } from "../model/port.ts";
import { definitionsText } from "./ask/model-request.ts";

/** Memory of a turn whose prompt, session and reply have usual lengths. A longer one counts as several turns. */
const USUAL_BYTES = 128 * 1024;
/** The step by which a hold grows, so that a reply's words are not counted one by one. */
const STEP_BYTES = 64 * 1024;
/** Statements of one owner's turns, each with a connection of its own: fewer than the process has, so that others always find one. */
const ALONE = 6;
/** A text, and a copy of it in transit. */
const BYTES_PER_CHARACTER = 2;
/** What arrives is held as bytes and as text. */
const BYTES_PER_RECEIVED = 2;
/** Owners that can use up their shares at the same time. */
const OWNERS = 3;

/** What the turns of a process share among owners. */
export interface TurnShares {
  memory: ByteShares;
  /** Limits how many of an owner's turns hold a connection that no others share. */
  alone: FewAtOnce;
}

/** The part of its owner's memory share that a turn holds from its acceptance to its stored reply. */
export interface TurnMemory {
  /**
   * Makes sure that the turn holds that many bytes. If there is no room for them, returns false and releases all but the usual
   * bytes for the owner's other turns. The turn must then end.
   */
  holds(bytes: number): boolean;
  release(): void;
}

/** @param ownerTurnsMax concurrent turns of usual length that one owner may have in this process */
export function turnShares(ownerTurnsMax: number): TurnShares {
  const ownerBytes = ownerTurnsMax * USUAL_BYTES;
  return {
    memory: byteShares({ what: "chat turns", totalBytes: OWNERS * ownerBytes, ownerBytes, waitingMax: 0 }),
    alone: fewAtOnce({ what: "chat turns", atOnce: ALONE, waitingMax: ownerTurnsMax }),
  };
}

/** Reserves a turn's memory. @throws ServiceError rate_limited when the owner has too many turns in progress */
export async function takeTurnMemory({ memory }: TurnShares, ownerId: string): Promise<TurnMemory> {
  const held = await memory.hold(ownerId, USUAL_BYTES);
  return {
    holds: (bytes) => {
      const more = bytes - held.bytes;
      if (more <= 0 || held.grow(Math.ceil(more / STEP_BYTES) * STEP_BYTES)) return true;
      held.shrink(USUAL_BYTES);
      return false;
    },
    release: held.release,
  };
}

/** @returns a function that tells whether there is room for the request, for the reply so far and for bytes that just arrived */
export function roomFor(
  memory: TurnMemory,
  { system, messages, tools }: ModelRequest,
): (said: number, received?: number) => boolean {
  const fixed = system.length + definitionsText(tools).length;
  const requested = messages.reduce((sum, message) => sum + charactersOf(message), fixed);
  return (said, received = 0) => memory.holds((requested + said) * BYTES_PER_CHARACTER + received * BYTES_PER_RECEIVED);
}

function charactersOf(message: ModelMessage): number {
  const calls = (message.role === "assistant" && message.toolCalls) || [];
  return calls.reduce((sum, { result }) => sum + result.length, message.content.length);
}

export function outOfTurnMemory(): ServiceError {
  const detail = "This account's long replies in progress have used up its share of memory, so this reply was cut off.";
  return new ServiceError("rate_limited", `${detail} Try again.`, { retryAfterMs: 1_000 });
}
