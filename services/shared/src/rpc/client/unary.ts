import type { ServiceError as GrpcError } from "@grpc/grpc-js";
import { cancelled } from "../../errors.ts";
import { isReplayed, originMetadata } from "../call.ts";
import type { AnyMethod } from "../definition.ts";
import { fromStatus } from "../status.ts";
import { type CallOptions, callOptions, deadlineOf, type Sender, TIMEOUT_MS } from "./sender.ts";

/** Makes a call with one request and one response. */
export function unary(
  { channel, settings, resender }: Sender,
  method: AnyMethod,
  request: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  const { origin, onReplayed } = options;
  const signal = origin?.signal;
  const metadata = originMetadata(origin, options.traceparent, settings.actor);
  const grpcOptions = callOptions(settings, options, TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const send = (resends: number) => {
      if (signal?.aborted) return reject(cancelled());
      const call = channel.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        metadata,
        grpcOptions,
        (error: GrpcError | null, response?: unknown) => {
          signal?.removeEventListener("abort", cancel);
          if (error) return fail(error, resends).catch(reject);
          resender.answered();
          resolve(response);
        },
      );
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      // Emitted right after the callback above, and so before the awaiting code continues.
      if (onReplayed) call.once("status", ({ metadata }) => isReplayed(metadata) && onReplayed());
    };
    const fail = async (error: GrpcError, resends: number) => {
      if (await resender.isDue(error, resends, deadlineOf(grpcOptions))) send(resends + 1);
      else reject(fromStatus(error, settings.peer, signal?.aborted));
    };
    send(0);
  });
}
