import type { ClientRequest, IncomingMessage } from "node:http";
import { EgressError, networkError } from "./error.ts";

export interface BodyBounds {
  host: string;
  maxResponseBytes: number;
  signal: AbortSignal | undefined;
}

/** Takes a response as it arrives. */
export interface BodyReader {
  /** Called once, before the body. */
  head(status: number): void;
  /** Returns false to read no further, which closes the connection. */
  piece(bytes: Uint8Array): boolean;
}

/**
 * Passes a response whose head has arrived to a reader.
 * @returns a promise of the end of the body or of the reader's interest; it rejects unless the body is complete
 */
export function readBody(
  request: ClientRequest,
  incoming: IncomingMessage,
  { host, maxResponseBytes, signal }: BodyBounds,
  reader: BodyReader,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // It may reject before the caller awaits it.
  promise.catch(() => {});
  let receivedBytes = 0;
  let isSettled = false;

  const settle = (act: () => void) => {
    if (isSettled) return;
    isSettled = true;
    signal?.removeEventListener("abort", abort);
    act();
  };
  const fail = (error: unknown) =>
    settle(() => {
      incoming.destroy();
      reject(error);
    });
  const abort = () => fail(signal?.reason);
  const cutShort = () => fail(networkError(host, { code: "ECONNRESET" }));
  const stop = () =>
    settle(() => {
      incoming.destroy();
      resolve();
    });

  reader.head(incoming.statusCode ?? 0);
  signal?.addEventListener("abort", abort);
  incoming.on("data", (chunk: Uint8Array) => {
    if (isSettled) return;
    receivedBytes += chunk.length;
    if (receivedBytes > maxResponseBytes) fail(tooLarge(host, maxResponseBytes));
    else if (!reader.piece(chunk)) stop();
  });
  incoming.on("end", () => (incoming.complete ? settle(resolve) : cutShort()));
  // Bun emits `close` of a complete message before its buffered data is read; `end` follows that data.
  incoming.on("close", () => incoming.complete || cutShort());
  incoming.on("error", (cause) => fail(networkError(host, cause)));
  // When the end of the connection ends the body, only the request tells a reset from an end.
  request.on("error", (cause) => fail(networkError(host, cause)));
  const encoding = incoming.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") fail(compressed(host, encoding));
  return promise;
}

export function tooLarge(host: string, maxResponseBytes: number): EgressError {
  return new EgressError("too_large", `The response of ${host} is longer than ${maxResponseBytes} bytes`);
}

// A few compressed bytes can become gigabytes, so the guard neither requests nor unpacks compression.
export function compressed(host: string, encoding: string): EgressError {
  return new EgressError(
    "network",
    `${host} compressed its response (${encoding}) although the request asked it not to`,
  );
}
