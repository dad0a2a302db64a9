import type { ClientRequest, IncomingMessage } from "node:http";
import { EgressError, networkError } from "./error.ts";
import { meterOf } from "./meter.ts";

/** Bytes buffered for the reader of a body: pausing the socket for each chunk halves the throughput. */
const QUEUED_BYTES = 16 * 1024;
/** What a piece of a body counts at least: as much work as that many bytes. */
const PIECE_BYTES_MIN = 64;

export interface BodyBounds {
  host: string;
  maxResponseBytes: number;
  signal: AbortSignal | undefined;
}

/** An answer whose head has arrived. The socket stays open until the body is read or cancelled, or the signal aborts. */
export interface Answer {
  status: number;
  statusText: string;
  /** Names and values in turn, as they were sent. */
  rawHeaders: readonly string[];
  /**
   * Returns what has arrived since the last call, after waiting for something; null after a complete body. Wait for the result before
   * the next call. @throws EgressError when the body is not complete, after what arrived of it; the signal's reason once aborted
   */
  read(): Promise<Uint8Array[] | null>;
  /** Reads no further, which closes the connection of a body that is not complete. */
  cancel(): void;
}

/** The headers of an answer by name in lower case; of one that is repeated, the last. */
export function headersByName({ rawHeaders }: Pick<Answer, "rawHeaders">): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers[rawHeaders[at]?.toLowerCase() ?? ""] = rawHeaders[at + 1] ?? "";
  return headers;
}

/**
 * Reads the body from the socket as fast as it is consumed.
 * @param failed is told at once what `read` will throw, perhaps before this returns
 */
export function answerOf(
  request: ClientRequest,
  incoming: IncomingMessage,
  { host, maxResponseBytes, signal }: BodyBounds,
  failed?: (error: unknown) => void,
): Answer {
  const meter = meterOf(signal);
  let receivedBytes = 0;
  let queued: Uint8Array[] = [];
  let queuedBytes = 0;
  /** Wakes the reader, which takes all that is queued by then. */
  let wake: (() => void) | null = null;
  let isWoken = false;
  let failure: { error: unknown } | null = null;
  let isSettled = false;

  const hasRoom = () => queuedBytes < QUEUED_BYTES;
  const wakeReader = () => {
    isWoken = wake !== null;
    wake?.();
    wake = null;
  };
  const settle = () => {
    isSettled = true;
    signal?.removeEventListener("abort", abort);
    meter?.ended?.();
    wakeReader();
  };
  const fail = (error: unknown) => {
    if (isSettled) return;
    incoming.destroy();
    failure = { error };
    settle();
    failed?.(error);
  };
  const abort = () => {
    queued = [];
    fail(signal?.reason);
  };
  const cutShort = () => fail(networkError(host, { code: "ECONNRESET" }));

  const receive = (chunk: Uint8Array) => {
    if (isSettled) return;
    receivedBytes += chunk.length;
    if (receivedBytes > maxResponseBytes) return fail(tooLarge(host, maxResponseBytes));
    meter?.received(Math.max(PIECE_BYTES_MIN, chunk.length));
    queued.push(chunk);
    queuedBytes += chunk.length;
    if (wake) wakeReader();
    // What the reader is about to take needs no room.
    else if (!isWoken && !hasRoom()) incoming.pause();
  };
  const take = () => {
    const taken = queued;
    queued = [];
    queuedBytes = 0;
    if (!isSettled && incoming.isPaused()) incoming.resume();
    return taken;
  };
  const end = () => {
    if (isSettled) return;
    if (incoming.complete) settle();
    else cutShort();
  };

  signal?.addEventListener("abort", abort);
  incoming.on("data", receive);
  incoming.on("end", end);
  // Bun emits `close` of a complete message before its buffered data is read; `end` follows that data.
  incoming.on("close", () => incoming.complete || cutShort());
  incoming.on("error", (cause) => fail(networkError(host, cause)));
  // When the end of the connection ends the body, only the request tells a reset from an end.
  request.on("error", (cause) => fail(networkError(host, cause)));
  const encoding = incoming.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") fail(compressed(host, encoding));

  return {
    status: incoming.statusCode ?? 0,
    statusText: incoming.statusMessage ?? "",
    rawHeaders: incoming.rawHeaders,
    async read() {
      if (queued.length === 0 && !isSettled) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        isWoken = false;
      }
      if (queued.length > 0) return take();
      if (failure) throw failure.error;
      return null;
    },
    cancel() {
      queued = [];
      if (isSettled) return;
      incoming.destroy();
      settle();
    },
  };
}

function tooLarge(host: string, maxResponseBytes: number): EgressError {
  return new EgressError("too_large", `The response of ${host} is longer than ${maxResponseBytes} bytes`);
}

// A few compressed bytes can become gigabytes, so the guard neither requests nor unpacks compression.
function compressed(host: string, encoding: string): EgressError {
  return new EgressError(
    "network",
    `${host} compressed its response (${encoding}) although the request asked it not to`,
  );
}
