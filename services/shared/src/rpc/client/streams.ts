import { Readable } from "node:stream";
import type { ServiceError as GrpcError } from "@grpc/grpc-js";
import { cancelled } from "../../errors.ts";
import { originMetadata } from "../call.ts";
import type { AnyMethod } from "../definition.ts";
import { fromStatus } from "../status.ts";
import { type CallOptions, callOptions, deadlineOf, type Sender } from "./sender.ts";

/** Makes a call with one request and a stream of responses. */
export async function* serverStream(
  { channel, settings, resender }: Sender,
  method: AnyMethod,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  const signal = options.origin?.signal;
  const metadata = originMetadata(options.origin, options.traceparent, settings.actor);
  const grpcOptions = callOptions(settings, options, null);
  for (let resends = 0; ; resends++) {
    if (signal?.aborted) throw cancelled();
    const call = channel.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      metadata,
      grpcOptions,
    );
    // Reading the stream throws its error; cancelling a stream that nobody reads anymore must not end the process.
    call.on("error", () => {});
    const cancel = () => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      yield* call;
      return resender.answered();
    } catch (error) {
      if (await resender.isDue(error as GrpcError, resends, deadlineOf(grpcOptions))) continue;
      throw fromStatus(error as GrpcError, settings.peer, signal?.aborted);
    } finally {
      signal?.removeEventListener("abort", cancel);
      call.cancel();
    }
  }
}

/** Makes a call with a stream of requests and one response. */
export function clientStream(
  { channel, settings }: Sender,
  method: AnyMethod,
  requests: AsyncIterable<unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const signal = options.origin?.signal;
  if (signal?.aborted) return Promise.reject(cancelled());
  return new Promise((resolve, reject) => {
    const source = Readable.from(requests);
    const call = channel.makeClientStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      originMetadata(options.origin, options.traceparent, settings.actor),
      callOptions(settings, options, null),
      (error: GrpcError | null, response?: unknown) => {
        signal?.removeEventListener("abort", cancel);
        // An answer may arrive before the last request is sent.
        source.destroy();
        if (error) reject(fromStatus(error, settings.peer, signal?.aborted));
        else resolve(response);
      },
    );
    const cancel = () => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    source.on("error", (error) => {
      reject(error);
      cancel();
    });
    call.on("error", () => {});
    source.pipe(call);
  });
}

/** Makes a call with a stream of requests and a stream of responses. */
export async function* bothStreams(
  { channel, settings }: Sender,
  method: AnyMethod,
  requests: AsyncIterable<unknown>,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  const signal = options.origin?.signal;
  if (signal?.aborted) throw cancelled();
  const call = channel.makeBidiStreamRequest(
    method.path,
    method.requestSerialize,
    method.responseDeserialize,
    originMetadata(options.origin, options.traceparent, settings.actor),
    callOptions(settings, options, null),
  );
  const source = Readable.from(requests);
  const cancel = () => call.cancel();
  source.on("error", cancel);
  call.on("error", () => {});
  signal?.addEventListener("abort", cancel, { once: true });
  source.pipe(call);
  try {
    yield* call;
  } catch (error) {
    throw source.errored ?? fromStatus(error as GrpcError, settings.peer, signal?.aborted);
  } finally {
    signal?.removeEventListener("abort", cancel);
    source.destroy();
    call.cancel();
  }
}
