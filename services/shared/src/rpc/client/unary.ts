import type { ServiceError as GrpcError } from "@grpc/grpc-js";
import { cancelled, ServiceError } from "../../errors.ts";
import { loopTurns } from "../../shares/loop-shares.ts";
import { isReplayed, originMetadata } from "../call.ts";
import type { AnyMethod } from "../definition.ts";
import { ownerIdReader } from "../owner-ids.ts";
import { fromStatus } from "../status.ts";
import { decodeInTurns } from "./decode-in-turns.ts";
import { type CallOptions, callOptions, deadlineOf, type Sender, TIMEOUT_MS } from "./sender.ts";

/** From this size on, a response is decoded item by item. */
const LARGE_BYTES = 256 * 1024;
/** Marks a response that there is no room for. */
const NO_ROOM = Symbol("no room");
/** Shared by all clients of a process. */
const turns = loopTurns();

/** Makes a call with one request and one response. */
export function unary(
  { channel, settings, resender }: Sender,
  method: AnyMethod,
  request: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  const { origin, onReplayed } = options;
  const signal = origin?.signal;
  const deserialize = (bytes: Buffer) => {
    if (origin?.onAnswer?.(bytes.length) === false) return NO_ROOM;
    return bytes.length > LARGE_BYTES ? bytes : method.responseDeserialize(bytes);
  };
  const decode = (bytes: Buffer) => {
    const ownerId = ownerIdReader(method.path)(request);
    return decodeInTurns(method, bytes, () => turns.next(ownerId));
  };
  const metadata = originMetadata(origin, options.traceparent);
  const grpcOptions = callOptions(settings, options, TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const send = (resends: number) => {
      if (signal?.aborted) return reject(cancelled());
      const call = channel.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        deserialize,
        request,
        metadata,
        grpcOptions,
        (error: GrpcError | null, response?: unknown) => {
          signal?.removeEventListener("abort", cancel);
          if (error) return fail(error, resends).catch(reject);
          resender.answered();
          if (response === NO_ROOM) reject(noRoom());
          else resolve(response instanceof Buffer ? decode(response) : response);
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

function noRoom(): ServiceError {
  return new ServiceError("rate_limited", "This account has too many reads in progress, try again", {
    retryAfterMs: 1_000,
  });
}
