import type { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import {
  Metadata,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { cancelled, ServiceError } from "../errors.ts";
import type { Hold } from "../shares/byte-shares.ts";
import { enterLoop } from "../shares/loop-entry.ts";
import { servedCall } from "../telemetry/rpc.ts";
import { type Call, markReplayed } from "./call.ts";
import type { AnyMethod } from "./definition.ts";
import { type Ending, endingOf, failed, logEnding, SUCCEEDED } from "./ending.ts";
import { type OpenCall, openCall, type RunningCalls } from "./open-call.ts";
import type { EnterCall } from "./owner-calls.ts";
import { type CheckOwnerIds, ownerIdCheck, ownerIdReader } from "./owner-ids.ts";
import { registrationOf } from "./registration.ts";
import { type RichStatus, toStatus } from "./status.ts";
import { type Admitted, refusePeer } from "./tls/peers.ts";

/** The state that the calls of one server share. */
export interface ServerContext extends RunningCalls {
  /** Each owner's share of the calls that are handled at once. */
  enter: EnterCall;
  /** The names of the processes that may call; null admits everybody. */
  peers: Admitted | null;
}

// biome-ignore lint/suspicious/noExplicitAny: the typed edge is Handlers, this is its one untyped inside
export type AnyHandler = (input: any, call: Call) => Promise<unknown> | AsyncIterable<unknown>;

type AnyCall = ServerUnaryCall<unknown, Buffer>;

/**
 * Turns a handler into one that grpc-js accepts. Every handler passes here, because grpc-js ends the process when an
 * async handler rejects.
 */
export function adapt(
  method: AnyMethod,
  handler: AnyHandler,
  server: ServerContext,
): UntypedServiceImplementation[string] {
  const checkOwnerIds = ownerIdCheck(method.path);
  const ownerOf = ownerIdReader(method.path);
  const unsent = (err: unknown) => server.log.error({ err, rpc: method.path }, "a response could not be sent");
  const refusalOf = (grpcCall: Parameters<typeof refusePeer>[2]) => {
    const refusal = refusePeer(server.peers, method.path, grpcCall);
    if (refusal) server.log.warn({ rpc: method.path, reason: refusal.details }, "peer refused");
    return refusal;
  };
  const served = (grpcCall: { request: unknown }, { call }: OpenCall, respond: () => Promise<Ending>) => {
    const startedAt = performance.now();
    const work = async () => {
      const ending = await respond();
      logEnding(server.log, method.path, { ownerId: ownerOf(grpcCall.request), call, startedAt }, ending);
      return ending.failure;
    };
    servedCall(method.path, call.traceparent, work).catch(unsent);
  };
  if (method.responseStream) {
    return (grpcCall: ServerWritableStream<unknown, Buffer>) => {
      const refusal = refusalOf(grpcCall);
      if (refusal) return void grpcCall.emit("error", refusal);
      const refuse = (refusal: RichStatus) => grpcCall.emit("error", refusal);
      const open = openCall(grpcCall, server, refuse);
      const respond = () => respondMany(method, handler, checkOwnerIds, grpcCall, open, refuse);
      served(grpcCall, open, respond);
    };
  }
  return (grpcCall: AnyCall, callback: sendUnaryData<Buffer>) => {
    const refusal = refusalOf(grpcCall);
    if (refusal) return callback(refusal);
    const open = openCall(grpcCall, server, callback);
    const respond = () =>
      respondOnce(method, handler, { check: checkOwnerIds, of: ownerOf }, grpcCall, open, callback, server);
    served(grpcCall, open, respond);
  };
}

async function respondOnce(
  method: AnyMethod,
  handler: AnyHandler,
  owners: { check: CheckOwnerIds; of: (request: unknown) => string },
  grpcCall: AnyCall,
  open: OpenCall,
  callback: sendUnaryData<Buffer>,
  { enter }: ServerContext,
): Promise<Ending> {
  const { hasOwnShares, isList } = registrationOf(handler);
  let share: Hold | null = null;
  try {
    if (grpcCall.request instanceof ServiceError) throw grpcCall.request;
    if (!method.requestStream) {
      owners.check(grpcCall.request);
      const entered = hasOwnShares ? null : enter(method.path, grpcCall.request, open.call, isList);
      share = entered instanceof Promise ? await entered : entered;
      const ownerId = owners.of(grpcCall.request);
      const turn = ownerId === "" ? null : enterLoop(ownerId);
      if (turn) await turn;
    }
    const input = method.requestStream ? requestsOf(grpcCall, open, owners.check) : grpcCall.request;
    const response = await handler(input, open.call);
    const bytes = method.responseSerialize(response);
    if (open.close()) callback(null, bytes, open.call.replayed ? markReplayed(new Metadata()) : undefined);
    return SUCCEEDED;
  } catch (error) {
    const ending = endingOf(error, open.gone);
    if (open.close()) callback(statusOf(ending.failure, open));
    return ending;
  } finally {
    share?.release();
  }
}

/** On Bun, a stream that its client cancels or loses ends like a complete one; the difference shows a moment later. */
async function* requestsOf(grpcCall: unknown, open: OpenCall, checkOwnerIds: CheckOwnerIds): AsyncGenerator<unknown> {
  // A bidirectional stream continues with responses after the requests have ended.
  for await (const request of (grpcCall as Readable).iterator({ destroyOnReturn: false })) {
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
): Promise<Ending> {
  try {
    if (!method.requestStream) checkOwnerIds(grpcCall.request);
    const input = method.requestStream ? requestsOf(grpcCall, open, checkOwnerIds) : grpcCall.request;
    for await (const response of handler(input, open.call) as AsyncIterable<unknown>) {
      if (open.gone) break;
      if (!grpcCall.write(method.responseSerialize(response))) await drainedOrGone(grpcCall, open.call.signal);
    }
    if (open.close()) grpcCall.end();
    return open.gone ? failed(cancelled()) : SUCCEEDED;
  } catch (error) {
    const ending = endingOf(error, open.gone);
    if (open.close()) refuse(statusOf(ending.failure, open));
    return ending;
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
  const rich = toStatus(failure);
  if (open.call.replayed) markReplayed(rich.metadata);
  return rich;
}
