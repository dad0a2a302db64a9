import { loopTurns } from "@parley/shared/shares/loop-shares";
import type { Hear, ModelName } from "./port.ts";

/** The words of a longer reply are looked for in pieces of this length, because a whole one takes milliseconds. */
const PIECE_CHARACTERS = 16 * 1024;
const pieces = loopTurns();

/** Has a text heard that arrived whole, in pieces if it is long, each in a turn of the event loop of its own. */
export async function hearInPieces(
  ownerId: string,
  text: string,
  by: ModelName,
  signal: AbortSignal,
  hear: Hear,
): Promise<void> {
  if (text === "") return;
  await hear(text.slice(0, PIECE_CHARACTERS), by);
  for (let at = PIECE_CHARACTERS; at < text.length; at += PIECE_CHARACTERS) {
    await pieces.next(ownerId);
    signal.throwIfAborted();
    await hear(text.slice(at, at + PIECE_CHARACTERS), by);
  }
}
