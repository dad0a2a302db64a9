import type { Socket } from "node:net";

/** How an interim response begins (RFC 9110, section 15.2), and how its head ends. */
const BEGINS = /^HTTP\/1\.\d 1\d\d/;
const BEGIN_BYTES = "HTTP/1.1 100".length;
const END = "\r\n\r\n";

/**
 * Makes what a server sends after too many interim responses unreadable. The runtime reads all that arrived together, 64 KiB or 2,600
 * of them, even if the request has been destroyed: for 10 ms, nothing else runs.
 * @param max interim responses that are left as they are
 * @returns stops this; call it when the response is there
 */
export function limitInterim(socket: Socket, max: number): () => void {
  let left = max;
  /** Whether the bytes so far end within an interim response. */
  let isWithin = false;
  /** The end of what has arrived, if it may be the beginning of what is looked for. */
  let rest = Buffer.alloc(0);
  const watch = (chunk: Buffer) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    while (isWithin || BEGINS.test(bytes.toString("latin1", at, at + BEGIN_BYTES))) {
      if (!isWithin && --left < 0) return void chunk.fill(0, Math.max(0, at - rest.length));
      const end = bytes.indexOf(END, at, "latin1");
      isWithin = end === -1;
      if (isWithin) break;
      at = end + END.length;
    }
    rest = Buffer.from(
      bytes.subarray(isWithin ? Math.max(at, bytes.length - END.length + 1) : at).subarray(0, BEGIN_BYTES),
    );
  };
  // The parser listens already.
  socket.prependListener("data", watch);
  return () => socket.off("data", watch);
}
