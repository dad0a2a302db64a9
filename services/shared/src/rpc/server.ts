import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import { ServiceError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { type CallOrigin, markReplayed, readOrigin } from "./call.ts";
import type { AnyMethod, Definition, RequestOf, ResponseOf } from "./definition.ts";
import { addReflection } from "./reflection.ts";
import { toStatus } from "./status.ts";

/** The request being served; pass it on as the origin of every call made for it. */
export interface Call extends CallOrigin {
  signal: AbortSignal;
  log: Logger;
  /** Set by a unary handler whose answer an earlier request got first; the caller is told by `onReplayed`. */
  replayed?: boolean;
}

/** Handlers as promises and async iterables. A method left out answers UNIMPLEMENTED. */
export type Handlers<D extends Definition> = {
  [M in keyof D]?: D[M] extends { requestStream: true }
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
  /** Milliseconds for running calls to end at a stop. */
  drainMs?: number;
}

export interface RunningServer {
  address: string;
  /** Stops taking calls, lets running ones end within the drain time, then cuts them off. */
  stop(): Promise<void>;
}

const DRAIN_MS = 10_000;

/** Serves one service with health and reflection beside it. */
export async function serve<D extends Definition>(
  definition: D,
  handlers: Handlers<D>,
  settings: ServerSettings,
): Promise<RunningServer> {
  const server = new Server({
    "grpc.enable_channelz": 0,
    "grpc.max_receive_message_length": 32 * 1024 * 1024,
    "grpc.max_connection_age_ms": 300_000,
    "grpc.max_connection_age_grace_ms": 600_000,
  });
  const implementation: UntypedServiceImplementation = {};
  for (const [name, handler] of Object.entries(handlers)) {
    const method = definition[name];
    if (method && handler) implementation[name] = adapt(method, handler as AnyHandler, settings.log);
  }
  server.addService(definition as ServiceDefinition, implementation);
  const health = new HealthImplementation({ "": "SERVING", [serviceName(definition)]: "SERVING" });
  health.addToServer(server);
  addReflection(server);
  const port = await bind(server, settings);
  return {
    address: settings.address.startsWith("unix:") ? settings.address : settings.address.replace(/:\d+$/, `:${port}`),
    stop: () => {
      health.setStatus("", "NOT_SERVING");
      health.setStatus(serviceName(definition), "NOT_SERVING");
      return drain(server, settings.drainMs ?? DRAIN_MS);
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the typed edge is Handlers, this is its one untyped inside
type AnyHandler = (request: any, call: Call) => Promise<unknown> | AsyncIterable<unknown>;
type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "metadata" | "getDeadline" | "once">;

/** grpc-js ends the process when an async handler rejects, so none is ever handed to it bare. */
function adapt(method: AnyMethod, handler: AnyHandler, log: Logger): UntypedServiceImplementation[string] {
  if (!method.requestStream && method.responseStream) {
    return (call: ServerWritableStream<unknown, unknown>) => {
      const ctx = callContext(call, log);
      pump(handler(call.request, ctx) as AsyncIterable<unknown>, call, ctx).then(
        () => call.end(),
        (error: unknown) => call.emit("error", statusOf(error, method, ctx)),
      );
    };
  }
  return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>) => {
    const ctx = callContext(call, log);
    const input = method.requestStream ? call : call.request;
    Promise.resolve()
      .then(() => handler(input, ctx) as Promise<unknown>)
      .then(
        (response) => callback(null, response, ctx.replayed ? markReplayed(new Metadata()) : undefined),
        (error: unknown) => callback(statusOf(error, method, ctx)),
      );
  };
}

async function pump(
  responses: AsyncIterable<unknown>,
  call: ServerWritableStream<unknown, unknown>,
  ctx: Call,
): Promise<void> {
  for await (const response of responses) {
    if (ctx.signal.aborted) return;
    if (!call.write(response)) await drainedOrGone(call, ctx.signal);
  }
}

function drainedOrGone(call: ServerWritableStream<unknown, unknown>, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      call.off("drain", done);
      gone.removeEventListener("abort", done);
      resolve();
    };
    call.once("drain", done);
    gone.addEventListener("abort", done, { once: true });
  });
}

function callContext(call: AnyCall, log: Logger): Call {
  const { requestId, traceparent } = readOrigin(call.metadata);
  const gone = new AbortController();
  call.once("cancelled", () => gone.abort());
  const deadline = call.getDeadline();
  const deadlineMs = deadline instanceof Date ? deadline.getTime() : deadline;
  return {
    requestId,
    traceparent,
    deadlineMs: Number.isFinite(deadlineMs) ? deadlineMs : undefined,
    signal: gone.signal,
    log,
  };
}

function statusOf(error: unknown, method: AnyMethod, ctx: Call): ReturnType<typeof toStatus> {
  const status = errorStatus(error, method, ctx);
  if (ctx.replayed) markReplayed(status.metadata);
  return status;
}

function errorStatus(error: unknown, method: AnyMethod, ctx: Call): ReturnType<typeof toStatus> {
  if (error instanceof ServiceError) {
    if (error.kind === "internal") {
      ctx.log.error({ err: error.cause ?? error, rpc: method.path, request_id: ctx.requestId }, "rpc failed");
    }
    return toStatus(error);
  }
  if (isUnreachableDatabase(error)) {
    ctx.log.warn({ err: error, rpc: method.path, request_id: ctx.requestId }, "database unreachable");
    return toStatus(new ServiceError("unavailable", "The database is unreachable, try again", { retryAfterMs: 1000 }));
  }
  ctx.log.error({ err: error, rpc: method.path, request_id: ctx.requestId }, "rpc failed");
  return toStatus(new ServiceError("internal", "An unexpected error", { cause: error }));
}

/** Connection failures of the `postgres` package and of Postgres going down or not yet up (class 57P, 08, 53300). */
function isUnreachableDatabase(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ENOENT|ETIMEDOUT|57P0[1-5]|08|53300)/.test(code);
}

function serviceName(definition: Definition): string {
  const [first] = Object.values(definition);
  return first?.path.split("/")[1] ?? "";
}

function bind(server: Server, settings: ServerSettings): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.bindAsync(settings.address, settings.credentials ?? ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
  return promise;
}

function drain(server: Server, drainMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    server.forceShutdown();
    resolve();
  }, drainMs);
  server.tryShutdown(() => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
