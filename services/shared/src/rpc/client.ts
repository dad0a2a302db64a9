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
import { cancelled } from "../errors.ts";
import { tracedCall, tracedStream } from "../telemetry/rpc.ts";
import { type CallOrigin, isReplayed, originMetadata } from "./call.ts";
import type { AnyMethod, Definition, RequestOf, ResponseOf } from "./definition.ts";
import { createResender, isReady, type Resender } from "./resend.ts";
import { fromStatus } from "./status.ts";
import { resolveSocketLists } from "./unix-sockets.ts";

export interface CallOptions {
  /** The request this call is made for: its id, deadline and cancellation go along. */
  origin?: CallOrigin | undefined;
  timeoutMs?: number;
  /** W3C trace context that goes along in place of the origin's. */
  traceparent?: string | undefined;
  /**
   * Called before a unary call settles, or a server stream throws, if its response or error is a replay. A stream reports a
   * successful replay in its messages, because its trailers come after them.
   */
  onReplayed?: () => void;
}

export type ServiceClient<D extends Definition> = {
  [M in keyof D]: D[M] extends { requestStream: true }
    ? (requests: AsyncIterable<RequestOf<D[M]>>, options?: CallOptions) => Promise<ResponseOf<D[M]>>
    : D[M] extends { responseStream: true }
      ? (request: RequestOf<D[M]>, options?: CallOptions) => AsyncIterable<ResponseOf<D[M]>>
      : (request: RequestOf<D[M]>, options?: CallOptions) => Promise<ResponseOf<D[M]>>;
} & {
  /** Whether the service can be connected to now, or within the time. */
  isReachable(withinMs: number): Promise<boolean>;
  close(): void;
};

export interface ClientSettings {
  /** The service's name in error texts. */
  peer: string;
  /**
   * host:port, or for round robin dns:///name:port, ipv4:ip:port,ip:port or unix:path,path. With TLS a name: Bun refuses an IP
   * address.
   */
  address: string;
  credentials?: ChannelCredentials;
  /** Of a call that names none, milliseconds. */
  timeoutMs?: number;
  /** Milliseconds of silence after which a server that owes answers is asked for a sign of life, and as many that it has for it. */
  keepaliveMs?: number;
}

const TIMEOUT_MS = 5_000;
/** A replica that hangs gets its share of calls, which all fail, for twice as long. */
const KEEPALIVE_MS = 5_000;
/** Each hop gives up this much before its caller does, so that the error tells which hop was slow. */
const HOP_MARGIN_MS = 25;

const CHANNEL_OPTIONS: ClientOptions = {
  // Both cost a tenth of every call; retries are decided by callers, who know what may be repeated, but for what never began.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // Else every name is also asked of DNS for a TXT record that says as much, which outlasts a short command.
  "grpc.service_config_disable_resolution": 1,
  // When a connection ends its name is asked for again, which tells of new replicas; by default only each half minute.
  "grpc.dns_min_time_between_resolutions_ms": 1_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Without bound: the peers are ours, and bound what they answer (db/bounded-page.ts).
  "grpc.max_receive_message_length": -1,
};

resolveSocketLists();

/** Promise and async-iterable methods over one channel. Every failure is a ServiceError. */
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
    const make = method.requestStream
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
  const deserialize = origin?.onAnswer ? measured(method, origin.onAnswer) : method.responseDeserialize;
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
          resolve(response);
        },
      );
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      // Emitted right after the callback above, so still before whoever awaits the promise goes on.
      if (onReplayed) call.once("status", ({ metadata }) => isReplayed(metadata) && onReplayed());
    };
    const fail = async (error: GrpcError, resends: number) => {
      if (await resender.isDue(error, resends, deadlineOf(grpcOptions))) send(resends + 1);
      else reject(fromStatus(error, settings.peer, signal?.aborted));
    };
    send(0);
  });
}

function measured(method: AnyMethod, onAnswer: (bytes: number) => void): AnyMethod["responseDeserialize"] {
  return (bytes) => {
    onAnswer(bytes.length);
    return method.responseDeserialize(bytes);
  };
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
    // Reading the stream throws its error; cancelling one that nobody reads any more must not end the process.
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
        // An answer may come before the last request is sent, or wanted.
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

/** The earlier of this call's own time-out and its caller's deadline less a margin; a stream has no time-out of its own. */
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
