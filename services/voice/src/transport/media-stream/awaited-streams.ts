import type { ExpectedStream } from "../../store/media-streams.ts";
import type { ArrivedStream } from "./connection.ts";

type CallOfStream = Pick<ExpectedStream, "ownerId" | "callId">;

/** Streams of calls that this process holds, which their carriers may open on any process. */
export interface AwaitedStreams {
  /**
   * Makes addresses for the next stream of a call. Another process that gets the stream closes it, and the carrier goes on with the next
   * address.
   */
  addresses(stream: ExpectedStream): Promise<string[]>;
  /** Gets the streams of a call that arrive here. @returns stops that */
  wait(call: CallOfStream, arrived: (stream: ArrivedStream) => void): () => void;
  /** Whether somebody here waits for the stream, and has it then. */
  take(stream: ArrivedStream): boolean;
}

/** Longer than pressing 32 keys and opening a stream take. */
export const WITHIN_MS = 30_000;
const ADDRESSES = 10;

/** @param addressFor makes the address of a stream */
export function awaitedStreams(
  addressFor: (stream: ExpectedStream, expiresInMs: number) => Promise<string>,
): AwaitedStreams {
  const waiting = new Map<string, (stream: ArrivedStream) => void>();
  return {
    addresses: (stream) => Promise.all(Array.from({ length: ADDRESSES }, () => addressFor(stream, WITHIN_MS))),
    wait: (call, arrived) => {
      waiting.set(nameOf(call), arrived);
      return () => void waiting.delete(nameOf(call));
    },
    take: (stream) => {
      const arrived = waiting.get(nameOf(stream));
      arrived?.(stream);
      return arrived !== undefined;
    },
  };
}

function nameOf({ ownerId, callId }: CallOfStream): string {
  return `${ownerId} ${callId}`;
}
