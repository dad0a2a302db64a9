import { Readable } from "node:stream";
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  credentials,
  type CallOptions as GrpcCallOptions,
  type ServiceError as GrpcError,
} from "@grpc/grpc-js";
import { refuseInTransaction } from "../db/open-transactions.ts";
import { cancelled, ServiceError } from "../errors.ts";
import { loopTurns } from "../shares/loop-shares.ts";
import { tracedCall, tracedStream } from "../telemetry/rpc.ts";
import { type CallOrigin, isReplayed, originMetadata } from "./call.ts";
import { decodeInTurns } from "./decode-in-turns.ts";
import type { AnyMethod, Definition, RequestOf, ResponseOf } from "./definition.ts";
import { ownerIdReader } from "./owner-ids.ts";
import { createResender, isReady, type Resender } from "./resend.ts";
import { fromStatus } from "./status.ts";
import { resolveSocketLists } from "./unix-sockets.ts";

export interface CallOptions {
  /** The request that causes this call; its id, deadline and cancellation are passed on. */
  origin?: CallOrigin | undefined;
  timeoutMs?: number;
  /** W3C trace context to send instead of the origin's. */
  traceparent?: string | undefined;
  /**
   * Called before a unary call settles, or a server stream throws, if its response or error is a replay. A stream reports a
   * successful replay in its messages, because its trailers come after them.
   */
  onReplayed?: () => void;
}

export type ServiceClient<D extends Definition> = {
  [M in keyof D]: D[M] extends { requestStream: true; responseStream: true }
    ? (requests: AsyncIterable<RequestOf<D[M]>>, options?: CallOptions) => AsyncIterable<ResponseOf<D[M]>>
    : D[M] extends { requestStream: true }
      ? (requests: AsyncIterable<RequestOf<D[M]>>, options?: CallOptions) => Promise<ResponseOf<D[M]>>
      : D[M] extends { responseStream: true }
        ? (request: RequestOf<D[M]>, options?: CallOptions) => AsyncIterable<ResponseOf<D[M]>>
        : (request: RequestOf<D[M]>, options?: CallOptions) => Promise<ResponseOf<D[M]>>;
} & {
  /** Whether the service can be reached now, or within the given time. */
  isReachable(withinMs: number): Promise<boolean>;
  close(): void;
};

export interface ClientSettings {
  /** The service's name in error texts. */
  peer: string;
  /**
   * host:port, or for round robin dns:///name:port, ipv4:ip:port,ip:port or unix:path,path. With TLS, use a name: Bun
   * refuses an IP address.
   */
  address: string;
  credentials?: ChannelCredentials;
  /** Default timeout of a call, in milliseconds. */
  timeoutMs?: number;
  /** Milliseconds of silence after which a server that owes answers is pinged, and the time it has to reply. */
  keepaliveMs?: number;
}

const TIMEOUT_MS = 5_000;
/** Of a response that is decoded item by item. */
const LARGE_BYTES = 256 * 1024;
/** In place of a response that there is no room for. */
const NO_ROOM = Symbol("no room");
/** Shared by all clients of a process. */
const turns = loopTurns();
/** A replica that hangs still gets its share of calls, which all fail, for twice this time. */
const KEEPALIVE_MS = 5_000;
/** Each hop's deadline is this much before its caller's, so that the error names the hop that was slow. */
const HOP_MARGIN_MS = 25;

const CHANNEL_OPTIONS: ClientOptions = {
  // Together they cost a tenth of every call. Callers decide what may be repeated; only calls that never began are resent here.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // Otherwise every name also costs a DNS query for a TXT record with the same setting, which can outlast a short
  // command.
  "grpc.service_config_disable_resolution": 1,
  // The name is resolved again when a connection ends, which finds new replicas; by default only every half minute.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Unlimited: the peers are our own and bound their answers (db/bounded-page.ts).
  "grpc.max_receive_message_length": -1,
};

resolveSocketLists();

/** Returns the methods as promises and async iterables over one channel. Every failure is a ServiceError. */
export function createClient<D extends Definition>(definition: D, settings: ClientSettings): ServiceClient<D> {
  const channel = new Client(settings.address, settings.credentials ?? credentials.createInsecure(), {
    ...CHANNEL_OPTIONS,
    "grpc.keepalive_time_ms": settings.keepaliveMs ?? KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": settings.keepaliveMs ?? KEEPALIVE_MS,
  });
  const sender: Sender = { channel, settings, resender: createResender(channel) };
  const methods: Record<string, unknown> = {
    isReachable: (withinMs: number) => isReady(channel, Date.now() + withinMs),
    close: () => channel.close(),
  };
  for (const [name, method] of Object.entries(definition)) {
    const call = { path: method.path, peer: settings.peer };
    const make =
      method.requestStream && method.responseStream
        ? (requests: AsyncIterable<unknown>, options?: CallOptions) =>
            tracedStream(call, options, (traced) => bothStreams(sender, method, requests, traced))
        : method.requestStream
          ? (requests: AsyncIterable<unknown>, options?: CallOptions) =>
              tracedCall(call, options, (traced) => clientStream(sender, method, requests, traced))
          : method.responseStream
            ? (request: unknown, options?: CallOptions) =>
                tracedStream(call, options, (traced) => serverStream(sender, method, request, traced))
            : (request: unknown, options?: CallOptions) =>
                tracedCall(call, options, (traced) => unary(sender, method, request, traced));
    methods[name] = (given: never, options?: CallOptions) => {
      refuseInTransaction(method.path);
      return make(given, options);
    };
  }
  return methods as ServiceClient<D>;
}

interface Sender {
  channel: Client;
  settings: ClientSettings;
  resender: Resender;
}

function unary(
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

async function* serverStream(
  { channel, settings, resender }: Sender,
  method: AnyMethod,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  const signal = options.origin?.signal;
  const metadata = originMetadata(options.origin, options.traceparent);
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
      if (isReplayed((error as GrpcError).metadata)) options.onReplayed?.();
      throw fromStatus(error as GrpcError, settings.peer, signal?.aborted);
    } finally {
      signal?.removeEventListener("abort", cancel);
      call.cancel();
    }
  }
}

function clientStream(
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
      originMetadata(options.origin, options.traceparent),
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

async function* bothStreams(
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
    originMetadata(options.origin, options.traceparent),
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

/**
 * The earlier of the call's own timeout and its caller's deadline minus a margin. A stream has no timeout of its own.
 */
function callOptions(settings: ClientSettings, options: CallOptions, fallbackMs: number | null): GrpcCallOptions {
  const timeoutMs = options.timeoutMs ?? (fallbackMs === null ? null : (settings.timeoutMs ?? fallbackMs));
  const own = timeoutMs === null ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const inherited = (options.origin?.deadlineMs ?? Number.POSITIVE_INFINITY) - HOP_MARGIN_MS;
  const deadline = Math.min(own, inherited);
  return deadline === Number.POSITIVE_INFINITY ? {} : { deadline };
}

function deadlineOf({ deadline }: GrpcCallOptions): number {
  return Number(deadline ?? Number.POSITIVE_INFINITY);
}
