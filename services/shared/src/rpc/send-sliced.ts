import type { ServerHttp2Stream } from "node:http2";
import { Metadata, type ServerUnaryCall } from "@grpc/grpc-js";
import type { SlicedMessage } from "./sliced-message.ts";

/**
 * The prefix of the message: not compressed, and its length
 * (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */
const PREFIX_BYTES = 5;

type AnyUnaryCall = Pick<ServerUnaryCall<unknown, unknown>, "sendMetadata">;

/**
 * Sends the one response of a unary call slice by slice, each when the previous one has left. A connection's streams
 * share its bandwidth: a response written at once would delay all others until it has left.
 * @param turn is awaited before each slice is made
 * @param gone fires when the caller has left; nothing is sent afterwards
 */
export async function sendSliced(
  call: AnyUnaryCall,
  { byteLength, slices }: SlicedMessage,
  turn: () => Promise<unknown>,
  gone: AbortSignal,
): Promise<void> {
  const stream = streamOf(call);
  call.sendMetadata(new Metadata());
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(byteLength, 1);
  await written(stream, prefix, gone);
  const left = slices[Symbol.iterator]();
  while (!gone.aborted) {
    await turn();
    const { done, value } = left.next();
    if (done || gone.aborted) return;
    await written(stream, value, gone);
  }
}

/** grpc-js sends only whole messages and hides the stream (its `BaseServerInterceptingCall`). */
function streamOf(call: AnyUnaryCall): ServerHttp2Stream {
  return (call as unknown as { call: { stream: ServerHttp2Stream } }).call.stream;
}

function written(stream: ServerHttp2Stream, bytes: Uint8Array, gone: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    gone.removeEventListener("abort", done);
    resolve();
  };
  gone.addEventListener("abort", done);
  // A stream that has failed is closed, which ends the call.
  stream.write(bytes, done);
  return promise;
}
