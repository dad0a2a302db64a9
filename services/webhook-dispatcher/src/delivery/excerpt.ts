/** Bytes of a response that the log keeps. */
export const EXCERPT_BYTES_MAX = 4096;

/**
 * Reads the beginning of a response's body, and no more of it. A short body is read to its end, so that the connection can serve
 * again.
 * @param take is given what was read so far, piece by piece: a body may break off
 * @throws what reading it throws
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

/** At most 4 KiB of text that can be stored: what is no UTF-8 becomes U+FFFD, and so does NUL, which Postgres does not take. */
export function excerptOf(pieces: readonly Uint8Array[]): string {
  const text = beginning(Buffer.concat(pieces)).replaceAll("\0", "\ufffd");
  return beginning(Buffer.from(text));
}

/** A character that is cut in two at the end is left out. */
function beginning(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, EXCERPT_BYTES_MAX), { stream: true });
}
