import type { ExpectedStream } from "../../store/media-streams.ts";
import { type AwaitedStreams, WITHIN_MS } from "./awaited-streams.ts";
import type { AnotherStream, StreamLeg } from "./stream-leg.ts";

/** Expects another stream of a call that this process holds, with which the leg goes on. */
export async function furtherStream(
  awaited: AwaitedStreams,
  stream: ExpectedStream,
  leg: StreamLeg,
): Promise<AnotherStream> {
  const urls = await awaited.addresses(stream);
  const { promise: arrived, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, WITHIN_MS, false);
  const stopWaiting = awaited.wait(stream, (another) => {
    try {
      another.resume(leg);
      resolve(true);
    } catch {
      // It has ended already; the carrier opens the next one.
      another.refuse();
    }
  });
  const cancel = () => {
    clearTimeout(timer);
    stopWaiting();
  };
  return { urls, arrived, cancel };
}
