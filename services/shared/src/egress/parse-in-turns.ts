import type { Socket } from "node:net";
import { loopShares } from "../shares/loop-shares.ts";
import type { Meter } from "./meter.ts";

/** Bytes of an answer that may go ahead of its owner's others: a first word, or a whole answer of usual length. */
const FIRST_BYTES = 16 * 1024;
/**
 * Most bytes in a row without a piece of a body. The runtime's parser limits heads, trailers and extensions of chunks to 16 KiB, but skips
 * blank lines before an answer, and zeros before the size of a chunk, without end.
 */
export const EMPTY_BYTES_MAX = 64 * 1024;

/** The shares of this process, whose one event loop parses what the servers send. */
const LOOP_SHARES = loopShares();

type Listener = (this: Socket, bytes: Buffer) => void;

export interface Parsed {
  /** Whether some of the body is parsed and not read yet. */
  isUnread(): boolean;
  /** Whether the request was aborted or its answer cancelled. A server that has closed its connection is still listened to. */
  isLeft(): boolean;
  /** Makes the error of a server that sends on and on, but no body. */
  empty(): Error;
}

/**
 * Has what arrives on a request's socket parsed in slices, in turns with that of other owners. What an answer costs does not depend on
 * its body alone: half a megabyte, which is read at once, takes 10 ms as blank lines and 100 ms as chunks of one byte.
 * @param meter whose answer it is, and whether a reader waits for its first word
 * @returns a function to call with each piece of the body
 */
export function parseInTurns(
  socket: Socket,
  { ownerId, isAwaited }: Pick<Meter, "ownerId" | "isAwaited">,
  { isUnread, isLeft, empty }: Parsed,
): () => void {
  // The parser listens already; what listens besides came before it and sees each read as a whole.
  const parse = socket.listeners("data").at(-1) as Listener | undefined;
  let receivedBytes = 0;
  let emptyBytes = 0;
  /** Reads that wait for their turn. */
  let held = 0;
  let letGo = () => {};

  const work = (slice: Uint8Array) => {
    if (isLeft()) return false;
    emptyBytes += slice.length;
    // Bytes behind an answer belong to no request, and the socket may already serve another one.
    if (!socket.rawListeners("data").includes(listen)) socket.destroy();
    else if (emptyBytes > EMPTY_BYTES_MAX && !isUnread()) socket.destroy(empty());
    else {
      parse?.call(socket, slice as Buffer);
      return !isLeft();
    }
    return false;
  };
  const done = () => {
    if (--held === 0) letGo();
  };
  const read = (bytes: string | Buffer) => {
    if (typeof bytes === "string") return;
    receivedBytes += bytes.length;
    const isFirst = receivedBytes <= FIRST_BYTES && isAwaited?.();
    if (LOOP_SHARES.handOver(ownerId, bytes, work, done, isFirst)) return;
    if (++held === 1) letGo = holdBack(socket);
  };
  // By this property, the runtime finds the listener when it removes its own.
  const listen = Object.assign(read, { listener: parse });
  if (parse) socket.off("data", parse).on("data", listen);
  return () => {
    emptyBytes = 0;
  };
}

/** What a socket reports when no more arrives. */
const ENDS: ReadonlySet<string | symbol> = new Set(["end", "error", "close"]);

/**
 * Pauses a socket, and postpones what others decide about that. So that the end of a connection does not overtake what arrived before it,
 * its events are postponed too.
 * @returns does what was decided, and reports the end
 */
function holdBack(socket: Socket): () => void {
  let isWanted = true;
  const ends: [string | symbol, ...unknown[]][] = [];
  const { emit } = socket;
  socket.emit = (event: string | symbol, ...values: unknown[]) => {
    if (!ENDS.has(event)) return Reflect.apply(emit, socket, [event, ...values]);
    ends.push([event, ...values]);
    return true;
  };
  socket.pause();
  socket.pause = () => {
    isWanted = false;
    return socket;
  };
  socket.resume = () => {
    isWanted = true;
    return socket;
  };
  return () => {
    for (const own of ["emit", "pause", "resume"]) Reflect.deleteProperty(socket, own);
    for (const [event, ...values] of ends) socket.emit(event, ...values);
    if (isWanted) socket.resume();
  };
}
