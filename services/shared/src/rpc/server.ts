import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { HealthService } from "@parley/proto/grpc/health/v1/health.ts";
import type { Logger } from "../log.ts";
import { type AnyHandler, adapt, type ServerContext } from "./adapt.ts";
import { boundedDecoder } from "./bounded-structs.ts";
import type { Call } from "./call.ts";
import type { Definition, RequestOf, ResponseOf } from "./definition.ts";
import { healthHandlers } from "./health.ts";
import { ownerCalls } from "./owner-calls.ts";
import { addReflection } from "./reflection.ts";
import { registrationOf } from "./registration.ts";
import { socketPath } from "./socket-path.ts";
import type { Admitted } from "./tls/peers.ts";
import { removeStaleSocket } from "./unix-sockets.ts";

/** Handlers as promises and async iterables. A missing method answers UNIMPLEMENTED. */
export type Handlers<D extends Definition> = {
  [M in keyof D]?: D[M] extends { requestStream: true; responseStream: true }
    ? (requests: AsyncIterable<RequestOf<D[M]>>, call: Call) => AsyncIterable<ResponseOf<D[M]>>
    : D[M] extends { requestStream: true }
      ? (requests: AsyncIterable<RequestOf<D[M]>>, call: Call) => Promise<ResponseOf<D[M]>>
      : D[M] extends { responseStream: true }
        ? (request: RequestOf<D[M]>, call: Call) => AsyncIterable<ResponseOf<D[M]>>
        : (request: RequestOf<D[M]>, call: Call) => Promise<ResponseOf<D[M]>>;
};

export interface ServerSettings {
  /** host:port (port 0: any free one) or unix:path. */
  address: string;
  log: Logger;
  credentials?: ServerCredentials;
  /** With certificates, the names of the processes that may call; null for any process of the same authority. */
  peers?: Admitted | null;
  /** Milliseconds that running calls have to end at shutdown. */
  drainMs?: number;
  /**
   * Milliseconds after which a connection takes no new calls, so that callers spread to new replicas. Its running calls
   * continue: a voice runtime's stream lasts as long as a phone call.
   */
  connectionAgeMs?: number;
  /** Milliseconds of silence after which a peer is pinged, and the time it has to reply before its calls end. */
  keepaliveMs?: number;
}

export interface RunningServer {
  address: string;
  /** Takes no new calls, lets running ones end within the drain time, then cuts them off. */
  stop(): Promise<void>;
}

/** Limit for one message; a larger one is refused unread. */
const REQUEST_BYTES_MAX = 32 * 1024 * 1024;

const DRAIN_MS = 10_000;
/** How often callers look for new replicas. Reconnecting costs next to nothing. */
const CONNECTION_AGE_MS = 15_000;
const KEEPALIVE_MS = 15_000;
/** Time for the last answers to be sent. */
const FLUSH_MS = 500;

/** Serves one service, with health and reflection. */
export async function serve<D extends Definition>(
  definition: D,
  handlers: Handlers<D>,
  settings: ServerSettings,
): Promise<RunningServer> {
  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": REQUEST_BYTES_MAX,
    "grpc.max_connection_age_ms": settings.connectionAgeMs ?? CONNECTION_AGE_MS,
    "grpc.keepalive_time_ms": settings.keepaliveMs ?? KEEPALIVE_MS,
    "grpc.keepalive_timeout_ms": settings.keepaliveMs ?? KEEPALIVE_MS,
  });
  const stopping = new AbortController();
  const { log, peers = null } = settings;
  const context: ServerContext = {
    log,
    stopping: stopping.signal,
    running: new Set(),
    enter: ownerCalls(),
    peers,
  };
  const name = serviceName(definition);
  server.addService(onWire(definition, handlers), implement(definition, handlers, context));
  server.addService(onWire(HealthService), implement(HealthService, healthHandlers(name), { ...context, peers: null }));
  addReflection(server, name);
  const port = await bind(server, settings);
  return {
    address: socketPath(settings.address) === null ? settings.address.replace(/:\d+$/, `:${port}`) : settings.address,
    stop: () => {
      stopping.abort();
      return drain(server, context, settings.drainMs ?? DRAIN_MS);
    },
  };
}

function implement<D extends Definition>(
  definition: D,
  handlers: Handlers<D>,
  context: ServerContext,
): UntypedServiceImplementation {
  const implementation: UntypedServiceImplementation = {};
  for (const [name, handler] of Object.entries(handlers)) {
    const method = definition[name];
    if (method && handler) implementation[name] = adapt(method, handler as AnyHandler, context);
  }
  return implementation;
}

/** The adapter encodes responses itself, so that it can report a failure to encode. */
function onWire(
  definition: Definition,
  handlers: Readonly<Record<string, object | undefined>> = {},
): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const { structFields } = registrationOf(handlers[name] ?? {});
    const decode = method.requestDeserialize;
    return [
      name,
      {
        ...method,
        requestDeserialize: structFields ? boundedDecoder(decode, structFields) : decode,
        responseSerialize: (bytes: Buffer) => bytes,
      },
    ];
  });
  return Object.fromEntries(methods) as ServiceDefinition;
}

function serviceName(definition: Definition): string {
  const [first] = Object.values(definition);
  return first?.path.split("/")[1] ?? "";
}

async function bind(server: Server, settings: ServerSettings): Promise<number> {
  const socket = socketPath(settings.address);
  if (socket !== null) await removeStaleSocket(socket);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(settings.address, settings.credentials ?? ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
  return promise;
}

/**
 * Without channelz, grpc-js's own forceShutdown finds no connection to end; calls that are cut off one by one release
 * theirs.
 */
async function drain(server: Server, { running }: ServerContext, drainMs: number): Promise<void> {
  const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  if (await settlesWithin(drained, drainMs)) return;
  for (const cut of running) cut();
  await settlesWithin(drained, FLUSH_MS);
}

function settlesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const { promise: settled, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  promise.then(() => {
    clearTimeout(timer);
    resolve(true);
  });
  return settled;
}
