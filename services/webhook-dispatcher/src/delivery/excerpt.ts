import { isAscii } from "node:buffer";

/** Bytes of a response that the log keeps. */
export const EXCERPT_BYTES_MAX = 4096;

/** Decodes at most 4 KiB as text. Invalid UTF-8 and NUL, which Postgres cannot store, become U+FFFD. */
export function excerptOf(pieces: readonly Uint8Array[]): string {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // The network may deliver half a megabyte in the first piece.
  const kept = Buffer.concat(pieces, Math.min(length, EXCERPT_BYTES_MAX));
  // A decoder costs five times as much, and most responses are short and plain.
  const text = (isAscii(kept) ? kept.toString("latin1") : beginning(kept)).replaceAll("\0", "\ufffd");
  return text.length * UNIT_BYTES_MAX <= EXCERPT_BYTES_MAX ? text : beginning(Buffer.from(text));
}

/** The most bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** Drops a character that is cut at the end. */
function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES_MAX), { stream: true });
}
