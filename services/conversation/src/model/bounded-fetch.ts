import type { Answer } from "@parley/shared/egress/answer";
import { EgressError, networkError } from "@parley/shared/egress/error";
import { type Meter, meterOf } from "@parley/shared/egress/meter";

/**
 * `fetch` for the standard providers. The operator sets their addresses, so it does not check them; it limits the
 * response to `maxBytes` and describes failed connections.
 * @throws EgressError network, and too_large while the body is read; the signal's reason once aborted
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  async function bounded(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const { host } = new URL(input instanceof Request ? input.url : input);
    const tell = (error: unknown) => (init?.signal?.aborted ? error : networkError(host, error));
    const response = await fetch(input, init).catch((error: unknown) => {
      throw tell(error);
    });
    if (!response.body) return response;
    return new Response(boundedBody(response.body, { host, maxBytes, meter: meterOf(init?.signal), tell }), response);
  }
  return Object.assign(bounded, { preconnect: fetch.preconnect });
}

interface Bounds {
  host: string;
  maxBytes: number;
  meter: Meter | undefined;
  tell(error: unknown): unknown;
}

function boundedBody(
  body: ReadableStream<Uint8Array>,
  { host, maxBytes, meter, tell }: Bounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let receivedBytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        receivedBytes += value.length;
        if (receivedBytes > maxBytes) {
          void reader.cancel();
          throw new EgressError("too_large", `The response of ${host} is longer than ${maxBytes} bytes`);
        }
        meter?.received(value.length);
        controller.enqueue(value);
      } catch (error) {
        controller.error(tell(error));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Sends a request and reads its answer as it arrives. @throws what the address's `fetch` throws; `read` does too */
export type Send = (url: string, init: RequestInit) => Promise<Answer>;

/** Sends by a `fetch`. */
export function sendBy(fetchIt: typeof fetch): Send {
  return async (url, init) => {
    const response = await fetchIt(url, init);
    const body = response.body?.getReader() as ReadableStreamDefaultReader<Uint8Array> | undefined;
    return {
      status: response.status,
      statusText: response.statusText,
      get rawHeaders() {
        return [...response.headers].flat();
      },
      async read() {
        const next = await body?.readMany();
        return !next || next.done ? null : next.value;
      },
      cancel() {
        // Rejects with the error that the body failed with.
        body?.cancel().catch(() => {});
      },
    };
  };
}
