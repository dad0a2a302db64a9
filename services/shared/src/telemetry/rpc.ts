import { type Attributes, context, type Span, SpanKind, trace } from "@opentelemetry/api";
import type { ServiceError } from "../errors.ts";
import { durations, secondsSince } from "./instruments.ts";
import {
  endFailed,
  inSpan,
  isRecordingTraces,
  type SpanOptions,
  startSpan,
  streamInSpan,
  traceparentOf,
} from "./spans.ts";

const served = durations("rpc.server.call.duration", "Duration of served calls by method and outcome");

/** A call's name in traces: its path without the leading slash. */
function nameOf(path: string): string {
  return path.slice(1);
}

/**
 * Serves a call: counts and times it, and continues its caller's trace.
 * @param work resolves to the error that it was answered with, if any
 */
export async function servedCall(
  path: string,
  traceparent: string | undefined,
  work: () => Promise<ServiceError | null>,
): Promise<void> {
  const startedAt = performance.now();
  const name = nameOf(path);
  const span = isRecordingTraces()
    ? startSpan(name, { kind: SpanKind.SERVER, attributes: rpcAttributes(name), parent: traceparent ?? null })
    : null;
  const failure = span ? await context.with(trace.setSpan(context.active(), span), work) : await work();
  served().record(secondsSince(startedAt), { "rpc.method": name, outcome: failure?.kind ?? "ok" });
  if (!span) return;
  if (failure) endFailed(span, failure);
  span.end();
}

interface CallName {
  path: string;
  peer: string;
}

interface Carrying {
  traceparent?: string | undefined;
}

/** Makes a call in a span of the current trace, which the called service continues. */
export function tracedCall<O extends Carrying, T>(
  call: CallName,
  options: O | undefined,
  make: (options?: O) => Promise<T>,
): Promise<T> {
  return inSpan(nameOf(call.path), clientSpan(call), (span) => make(span ? carrying(options, span) : options));
}

/** The same for a call that returns a stream. */
export function tracedStream<O extends Carrying, T>(
  call: CallName,
  options: O | undefined,
  make: (options?: O) => AsyncIterable<T>,
): AsyncIterable<T> {
  return streamInSpan(nameOf(call.path), clientSpan(call), (span) => make(span ? carrying(options, span) : options));
}

function clientSpan({ path, peer }: CallName): SpanOptions {
  return { kind: SpanKind.CLIENT, attributes: { ...rpcAttributes(nameOf(path)), "server.address": peer } };
}

function carrying<O extends Carrying>(options: O | undefined, span: Span): O {
  return { ...options, traceparent: traceparentOf(span) } as O;
}

function rpcAttributes(name: string): Attributes {
  return { "rpc.system": "grpc", "rpc.method": name };
}
