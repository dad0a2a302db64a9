import type { ExpectedStream } from "../../store/media-streams.ts";
import type { ArrivedStream } from "./connection.ts";
import type { AnotherStream, StreamLeg } from "./stream-leg.ts";

/** Further streams of calls that this process holds. */
export interface FurtherStreams {
  expect(stream: ExpectedStream, leg: StreamLeg): Promise<AnotherStream>;
  /** Whether the stream is one of them; its leg goes on with it then. */
  take(stream: ArrivedStream): boolean;
}

/** Longer than pressing 32 keys and opening a stream take. */
const WITHIN_MS = 30_000;
/** Another process that gets the stream closes it, and the carrier goes on with the next address. */
const TRIES = 10;

/** @param addressFor makes the address of a stream */
export function furtherStreams(
  addressFor: (stream: ExpectedStream, expiresInMs: number) => Promise<string>,
): FurtherStreams {
  const awaited = new Map<string, { leg: StreamLeg; arrived(hasArrived: boolean): void }>();
  return {
    expect: async (stream, leg) => {
      const urls = await Promise.all(Array.from({ length: TRIES }, () => addressFor(stream, WITHIN_MS)));
      const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(resolve, WITHIN_MS, false);
      awaited.set(nameOf(stream), { leg, arrived: resolve });
      const cancel = () => {
        clearTimeout(timer);
        awaited.delete(nameOf(stream));
      };
      return { urls, arrived, cancel };
    },
    take: (stream) => {
      const waiting = awaited.get(nameOf(stream));
      if (!waiting) return false;
      try {
        stream.resume(waiting.leg);
        waiting.arrived(true);
      } catch {
        // It has ended already; the carrier opens the next one.
        stream.refuse();
      }
      return true;
    },
  };
}

function nameOf({ ownerId, callId }: Pick<ExpectedStream, "ownerId" | "callId">): string {
  return `${ownerId} ${callId}`;
}
