import { Readable } from "node:stream";
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  credentials,
  type CallOptions as GrpcCallOptions,
  type ServiceError as GrpcError,
  status,
} from "@grpc/grpc-js";
import { ServiceError } from "../errors.ts";
import { tracedCall, tracedStream } from "../telemetry/rpc.ts";
import { type CallOrigin, isReplayed, originMetadata } from "./call.ts";
import type { AnyMethod, Definition, RequestOf, ResponseOf } from "./definition.ts";
import { fromStatus } from "./status.ts";

export interface CallOptions {
  /** The request this call is made for: its id, deadline and cancellation go along. */
  origin?: CallOrigin | undefined;
  timeoutMs?: number;
  /** W3C trace context that goes along in place of the origin's. */
  traceparent?: string | undefined;
  /** Of a unary call: called before its promise settles when the answer is a replay (decisions.md: Idempotency-Key). */
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
  /** host:port, dns:///name:port for round robin over its addresses, or unix:path. With TLS a name: Bun refuses an IP address. */
  address: string;
  credentials?: ChannelCredentials;
  /** Of a call that names none, milliseconds. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;
/** Each hop gives up this much before its caller does, so that the error tells which hop was slow. */
const HOP_MARGIN_MS = 25;

/** How often a call that its server refused to begin is made again, on the next connection. */
const REFUSALS_MAX = 3;

const CHANNEL_OPTIONS: ClientOptions = {
  // Both cost a tenth of every call; retries are decided by callers, who know what may be repeated, but for refusals.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.service_config": JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // Else every name is also asked of DNS for a TXT record that says as much, which outlasts a short command.
  "grpc.service_config_disable_resolution": 1,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  // Without bound: the peers are ours, and a page of a hundred long prompts is what the API promises.
  "grpc.max_receive_message_length": -1,
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 5_000,
};

/** Promise and async-iterable methods over one channel. Every failure is a ServiceError. */
export function createClient<D extends Definition>(definition: D, settings: ClientSettings): ServiceClient<D> {
  const channel = new Client(settings.address, settings.credentials ?? credentials.createInsecure(), CHANNEL_OPTIONS);
  const methods: Record<string, unknown> = {
    isReachable: (withinMs: number) =>
      new Promise((resolve) => channel.waitForReady(Date.now() + withinMs, (error) => resolve(!error))),
    close: () => channel.close(),
  };
  for (const [name, method] of Object.entries(definition)) {
    const call = { path: method.path, peer: settings.peer };
    methods[name] = method.requestStream
      ? (requests: AsyncIterable<unknown>, options?: CallOptions) =>
          tracedCall(call, options, (traced) => clientStream(channel, method, settings, requests, traced))
      : method.responseStream
        ? (request: unknown, options?: CallOptions) =>
            tracedStream(call, options, (traced) => serverStream(channel, method, settings, request, traced))
        : (request: unknown, options?: CallOptions) =>
            tracedCall(call, options, (traced) => unary(channel, method, settings, request, traced));
  }
  return methods as ServiceClient<D>;
}

function unary(
  channel: Client,
  method: AnyMethod,
  settings: ClientSettings,
  request: unknown,
  options: CallOptions = {},
): Promise<unknown> {
  const { origin, onReplayed } = options;
  const signal = origin?.signal;
  const metadata = originMetadata(origin, options.traceparent);
  const grpcOptions = callOptions(settings, options, TIMEOUT_MS);
  return new Promise((resolve, reject) => {
    const send = (refusals: number) => {
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
          if (!error) resolve(response);
          else if (wasRefused(error) && refusals < REFUSALS_MAX) send(refusals + 1);
          else reject(fromStatus(error, settings.peer, signal?.aborted));
        },
      );
      const cancel = () => call.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      // Emitted right after the callback above, so still before whoever awaits the promise goes on.
      if (onReplayed) call.once("status", ({ metadata }) => isReplayed(metadata) && onReplayed());
    };
    send(0);
  });
}

async function* serverStream(
  channel: Client,
  method: AnyMethod,
  settings: ClientSettings,
  request: unknown,
  options: CallOptions = {},
): AsyncGenerator<unknown> {
  const signal = options.origin?.signal;
  const metadata = originMetadata(options.origin, options.traceparent);
  const grpcOptions = callOptions(settings, options, null);
  for (let refusals = 0; ; refusals++) {
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
      return yield* call;
    } catch (error) {
      if (wasRefused(error as GrpcError) && refusals < REFUSALS_MAX) continue;
      throw fromStatus(error as GrpcError, settings.peer, signal?.aborted);
    } finally {
      signal?.removeEventListener("abort", cancel);
      call.cancel();
    }
  }
}

function clientStream(
  channel: Client,
  method: AnyMethod,
  settings: ClientSettings,
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

/**
 * Whether a call met a connection that its server was about to close, for its age or a restart: the server has not begun it
 * (https://www.rfc-editor.org/rfc/rfc9113#section-8.7). Nothing but the text tells it from other ways to be unavailable.
 */
function wasRefused({ code, details }: GrpcError): boolean {
  return code === status.UNAVAILABLE && details === "Stream refused by server";
}

function cancelled(): ServiceError {
  return new ServiceError("cancelled", "The request was cancelled");
}
