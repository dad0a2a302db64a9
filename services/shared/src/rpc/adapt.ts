import { setImmediate } from "node:timers/promises";
import {
  Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Hold } from "../byte-shares.ts";
import { databaseUnreachable, isOutOfTime, isUnreachableDatabase } from "../db/unreachable.ts";
import { cancelled, ServiceError } from "../errors.ts";
import { servedCall } from "../telemetry/rpc.ts";
import { type Call, markReplayed } from "./call.ts";
import type { AnyMethod } from "./definition.ts";
import { type OpenCall, openCall, type RunningCalls } from "./open-call.ts";
import type { EnterCall } from "./owner-calls.ts";
import { type CheckOwnerIds, ownerIdCheck } from "./owner-ids.ts";
import { type Admitted, refusePeer } from "./peers.ts";
import { isFromPeer, type RichStatus, toStatus } from "./status.ts";

/** What the calls of one server share. */
export interface ServerContext extends RunningCalls {
  /** Each owner's share of the calls that are handled at once. */
  enter: EnterCall;
  /** The names of the processes that may call, null for everybody. */
  peers: Admitted | null;
}

// biome-ignore lint/suspicious/noExplicitAny: the typed edge is Handlers, this is its one untyped inside
export type AnyHandler = (input: any, call: Call) => Promise<unknown> | AsyncIterable<unknown>;

type AnyCall = ServerUnaryCall<unknown, Buffer>;

/** A handler as grpc-js wants it. It ends the process when an async handler rejects, so none is ever handed to it bare. */
export function adapt(
  method: AnyMethod,
  handler: AnyHandler,
  server: ServerContext,
): UntypedServiceImplementation[string] {
  const checkOwnerIds = ownerIdCheck(method.path);
  const unsent = (err: unknown) => server.log.error({ err, rpc: method.path }, "answer could not be sent");
  const refusalOf = (grpcCall: Parameters<typeof refusePeer>[2]) => {
    const refusal = refusePeer(server.peers, method.path, grpcCall);
    if (refusal) server.log.warn({ rpc: method.path, reason: refusal.details }, "peer refused");
    return refusal;
  };
  if (method.responseStream) {
    return (grpcCall: ServerWritableStream<unknown, Buffer>) => {
      const refusal = refusalOf(grpcCall);
      if (refusal) return void grpcCall.emit("error", refusal);
      const refuse = (status: RichStatus) => grpcCall.emit("error", status);
      const open = openCall(grpcCall, server, refuse);
      const respond = () => respondMany(method, handler, checkOwnerIds, grpcCall, open, refuse);
      servedCall(method.path, open.call.traceparent, respond).catch(unsent);
    };
  }
  return (grpcCall: AnyCall, callback: sendUnaryData<Buffer>) => {
    const refusal = refusalOf(grpcCall);
    if (refusal) return callback(refusal);
    const open = openCall(grpcCall, server, callback);
    const respond = () => respondOnce(method, handler, checkOwnerIds, grpcCall, open, callback, server.enter);
    servedCall(method.path, open.call.traceparent, respond).catch(unsent);
  };
}

async function respondOnce(
  method: AnyMethod,
  handler: AnyHandler,
  checkOwnerIds: CheckOwnerIds,
  grpcCall: AnyCall,
  open: OpenCall,
  callback: sendUnaryData<Buffer>,
  enter: EnterCall,
): Promise<ServiceError | null> {
  let share: Hold | null = null;
  try {
    if (!method.requestStream) {
      checkOwnerIds(grpcCall.request);
      const entered = enter(method.path, grpcCall.request, open.call);
      share = entered instanceof Promise ? await entered : entered;
    }
    const input = method.requestStream ? requestsOf(grpcCall, open, checkOwnerIds) : grpcCall.request;
    const response = await handler(input, open.call);
    const bytes = method.responseSerialize(response);
    if (open.close()) callback(null, bytes, open.call.replayed ? markReplayed(new Metadata()) : undefined);
    return null;
  } catch (error) {
    const failure = asServiceError(error, method, open);
    if (open.close()) callback(statusOf(failure, open));
    return failure;
  } finally {
    share?.release();
  }
}

/** On Bun a stream that its client cancels or loses ends like a whole one, and is known for what it is a moment later. */
async function* requestsOf(grpcCall: AnyCall, open: OpenCall, checkOwnerIds: CheckOwnerIds): AsyncGenerator<unknown> {
  for await (const request of grpcCall as unknown as AsyncIterable<unknown>) {
    checkOwnerIds(request);
    yield request;
  }
  await setImmediate();
  if (open.gone) throw cancelled();
}

async function respondMany(
  method: AnyMethod,
  handler: AnyHandler,
  checkOwnerIds: CheckOwnerIds,
  grpcCall: ServerWritableStream<unknown, Buffer>,
  open: OpenCall,
  refuse: (status: RichStatus) => void,
): Promise<ServiceError | null> {
  try {
    checkOwnerIds(grpcCall.request);
    for await (const response of handler(grpcCall.request, open.call) as AsyncIterable<unknown>) {
      if (open.gone) break;
      if (!grpcCall.write(method.responseSerialize(response))) await drainedOrGone(grpcCall, open.call.signal);
    }
    if (open.close()) grpcCall.end();
    return open.gone ? cancelled() : null;
  } catch (error) {
    const failure = asServiceError(error, method, open);
    if (open.close()) refuse(statusOf(failure, open));
    return failure;
  }
}

function drainedOrGone(grpcCall: ServerWritableStream<unknown, Buffer>, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      grpcCall.off("drain", done);
      gone.removeEventListener("abort", done);
      resolve();
    };
    grpcCall.once("drain", done);
    gone.addEventListener("abort", done, { once: true });
  });
}

function statusOf(failure: ServiceError, open: OpenCall): RichStatus {
  const status = toStatus(failure);
  if (open.call.replayed) markReplayed(status.metadata);
  return status;
}

function asServiceError(error: unknown, method: AnyMethod, { call, gone }: OpenCall): ServiceError {
  const fields = { rpc: method.path };
  if (error instanceof ServiceError) {
    // One that a peer sent was logged there.
    if (error.kind === "internal" && !isFromPeer(error))
      call.log.error({ ...fields, err: error.cause ?? error }, "rpc failed");
    return error;
  }
  if (gone && isAbort(error)) return cancelled();
  if (isUnreachableDatabase(error)) {
    call.log.warn({ ...fields, err: error }, "database unreachable");
    return databaseUnreachable(error);
  }
  if (isOutOfTime(error)) {
    call.log.warn({ ...fields, err: error }, "database too slow");
    return new ServiceError("deadline", "The database took too long, try again");
  }
  call.log.error({ ...fields, err: error }, "rpc failed");
  return new ServiceError("internal", "An unexpected error");
}

/** What awaiting something on an aborted signal, or reading the requests of a caller that is gone, fails with. */
function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "AbortError" || ("code" in error && error.code === "ERR_STREAM_PREMATURE_CLOSE");
}
