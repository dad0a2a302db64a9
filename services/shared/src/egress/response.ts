import type { ClientRequest, IncomingMessage } from "node:http";
import { loopShares } from "../shares/loop-shares.ts";
import { networkError } from "./error.ts";
import { meterOf } from "./meter.ts";
import { readBeat } from "./read-beat.ts";
import { type BodyBounds, compressed, tooLarge } from "./read-body.ts";

/** Bytes buffered for the reader of a body: pausing the socket for each chunk halves the throughput. */
const QUEUED_BYTES = 16 * 1024;
/** Bytes of a body that may go ahead of its owner's others: a first word, or a whole answer of usual length. */
const FIRST_BYTES = 16 * 1024;
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/**
 * Makes a Response of an answer whose head has arrived. Reads the body from the socket as fast as it is consumed; the
 * body fails unless the answer is complete. The socket stays open until the caller reads the body, cancels it or
 * aborts.
 * @throws RangeError, TypeError for a status or header that a Response cannot have
 */
export function responseOf(request: ClientRequest, incoming: IncomingMessage, bounds: BodyBounds): Response {
  const status = incoming.statusCode ?? 0;
  const head = { status, statusText: incoming.statusMessage ?? "", headers: headersOf(incoming) };
  if (request.method !== "HEAD" && !WITHOUT_BODY.includes(status))
    return new Response(bodyOf(request, incoming, bounds), head);
  incoming.resume();
  return new Response(null, head);
}

/** The shares of this process, whose one event loop parses the bodies. */
const LOOP_SHARES = loopShares();
const READ_BEAT = readBeat();

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

function bodyOf(
  request: ClientRequest,
  incoming: IncomingMessage,
  { host, maxResponseBytes, signal }: BodyBounds,
): ReadableStream<Uint8Array> {
  let body: ReadableStreamDefaultController<Uint8Array>;
  const meter = meterOf(signal);
  const { mayRest } = meter ?? {};
  const tellPiece =
    mayRest && READ_BEAT.follow(incoming, () => !isHeldBack && (body.desiredSize ?? 0) > 0 && mayRest());
  let receivedBytes = 0;
  let isSettled = false;
  /** Buffered until the owner's turn on the event loop. */
  let isHeldBack = false;
  let hasEnded = false;

  const settle = (act: () => void) => {
    if (isSettled) return;
    isSettled = true;
    signal?.removeEventListener("abort", abort);
    act();
  };
  const fail = (error: unknown) =>
    settle(() => {
      incoming.destroy();
      body.error(error);
    });
  const abort = () => fail(signal?.reason);
  const cutShort = () => fail(networkError(host, { code: "ECONNRESET" }));

  const receive = (chunk: Uint8Array) => {
    if (isSettled) return;
    receivedBytes += chunk.length;
    if (receivedBytes > maxResponseBytes) return fail(tooLarge(host, maxResponseBytes));
    meter?.received(chunk.length);
    tellPiece?.();
    if (!meter) return enqueue(chunk);
    const isFirst = receivedBytes <= FIRST_BYTES && meter.isAwaited?.();
    const isDone = LOOP_SHARES.handOver(meter.ownerId, chunk, enqueue, resume, isFirst);
    isHeldBack = !isDone;
    if (isHeldBack) incoming.pause();
  };
  const enqueue = (chunk: Uint8Array) => {
    if (isSettled) return;
    body.enqueue(chunk);
    if ((body.desiredSize ?? 0) <= 0) incoming.pause();
  };
  const resume = () => {
    isHeldBack = false;
    if (hasEnded) end();
    else if (!isSettled && (body.desiredSize ?? 0) > 0) incoming.resume();
  };
  const end = () => {
    hasEnded = true;
    if (!isHeldBack) incoming.complete ? settle(() => body.close()) : cutShort();
  };

  const queue = new ByteLengthQueuingStrategy({ highWaterMark: QUEUED_BYTES });
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        body = controller;
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
      },
      pull: () => {
        if (!isHeldBack) incoming.resume();
      },
      cancel: () => settle(() => incoming.destroy()),
    },
    queue,
  );
}
