import { isAscii } from "node:buffer";

/** Bytes of a response that the log keeps. */
export const EXCERPT_BYTES_MAX = 4096;

/**
 * Reads only the beginning of a response's body. Reads a short body to its end, so that the connection can be reused.
 * @param take receives each piece as it is read, because a body may break off
 * @throws errors of the read
 */
export async function readBeginning(response: Response, take: (bytes: Uint8Array) => void): Promise<void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  let read = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    take(piece.value);
    read += piece.value.length;
    if (read > EXCERPT_BYTES_MAX) return reader.cancel();
  }
}

/** Decodes at most 4 KiB as text. Invalid UTF-8 and NUL, which Postgres cannot store, become U+FFFD. */
export function excerptOf(pieces: readonly Uint8Array[]): string {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // The network may deliver half a megabyte in the first piece.
  const kept = Buffer.concat(pieces, Math.min(length, EXCERPT_BYTES_MAX));
  // A decoder costs five times as much, and most responses are short and plain.
  const text = (isAscii(kept) ? kept.latin1Slice() : beginning(kept)).replaceAll("\0", "\ufffd");
  return text.length * UNIT_BYTES_MAX <= EXCERPT_BYTES_MAX ? text : beginning(Buffer.from(text));
}

/** The most bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES_MAX = 3;

/** Drops a character that is cut at the end. */
function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES_MAX), { stream: true });
}
