import { Client, type ClientOptions, credentials } from "@grpc/grpc-js";
import { refuseInTransaction } from "../db/open-transactions.ts";
import { tracedCall, tracedStream } from "../telemetry/rpc.ts";
import { createResender, isReady } from "./client/resend.ts";
import type { CallOptions, ClientSettings, Sender } from "./client/sender.ts";
import { bothStreams, clientStream, serverStream } from "./client/streams.ts";
import { unary } from "./client/unary.ts";
import type { Definition, RequestOf, ResponseOf } from "./definition.ts";
import { resolveSocketLists } from "./unix-sockets.ts";

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

/** A replica that hangs still gets its share of calls, which all fail, for twice this time. */
const KEEPALIVE_MS = 5_000;

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
