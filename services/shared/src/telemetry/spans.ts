import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { ServiceError } from "../errors.ts";

export { SpanKind };

let recording = false;
let measuring = false;

/** Call once a collector is configured. */
export function recordTraces(): void {
  recording = true;
}

/** Call once metrics can be read. */
export function recordMetrics(): void {
  measuring = true;
}

/** Whether traces or metrics are collected; skip work that only they need otherwise. */
export function isWatched(): boolean {
  return recording || measuring;
}

/** Whether spans are exported; skip work that only they need otherwise. */
export function isRecordingTraces(): boolean {
  return recording;
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** W3C trace context of the work that caused this; null starts a trace, undefined continues the current one. */
  parent?: string | null | undefined;
}

/**
 * Runs work in a span of the current trace, including what it awaits. A ServiceError that is the caller's fault counts
 * as an outcome, every other error as a failure. Without a collector it only runs the work.
 */
export function inSpan<T>(name: string, options: SpanOptions, work: (span: Span | null) => Promise<T>): Promise<T> {
  if (!recording) return work(null);
  const span = startSpan(name, options);
  return context.with(trace.setSpan(context.active(), span), async () => {
    try {
      return await work(span);
    } catch (error) {
      endFailed(span, error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The same for work that yields a stream: the span ends when the stream ends or its reader leaves. */
export function streamInSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | null) => AsyncIterable<T>,
): AsyncIterable<T> {
  return recording ? spannedStream(name, options, work) : work(null);
}

async function* spannedStream<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const span = startSpan(name, options);
  try {
    yield* work(span);
  } catch (error) {
    endFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Runs work outside of any trace, because what it begins outlasts its cause. */
export function outsideTraces<T>(work: () => T): T {
  return recording ? context.with(ROOT_CONTEXT, work) : work();
}

/** Starts a span that the caller must end. */
export function startSpan(name: string, { kind = SpanKind.INTERNAL, attributes = {}, parent }: SpanOptions): Span {
  return trace.getTracer("parley").startSpan(name, { kind, attributes }, parentOf(parent));
}

export function endFailed(span: Span, error: unknown): void {
  const kind = error instanceof ServiceError ? error.kind : undefined;
  if (kind !== undefined) span.setAttribute("error.type", kind);
  // Leaves out the error's text, which may quote a user.
  if (kind === undefined || FAULTS.has(kind)) span.setStatus({ code: SpanStatusCode.ERROR });
}

const FAULTS: ReadonlySet<string> = new Set(["internal", "unavailable", "upstream_failed", "upstream_timeout"]);

/** W3C trace context of the active span, for outgoing requests and later work; undefined without one. */
export function activeTraceparent(): string | undefined {
  return recording ? traceparentOf(trace.getActiveSpan()) : undefined;
}

export function traceparentOf(span: Span | undefined): string | undefined {
  const spanContext = span?.spanContext();
  if (!span || !spanContext || !isSpanContextValid(spanContext)) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  return carrier.traceparent;
}

function parentOf(parent: string | null | undefined): Context {
  if (parent === undefined) return context.active();
  return parent === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent: parent });
}

/** The ids of the active span, for log lines. */
export function activeTraceIds(): { trace_id?: string; span_id?: string } {
  const spanContext = recording ? trace.getActiveSpan()?.spanContext() : undefined;
  return spanContext ? { trace_id: spanContext.traceId, span_id: spanContext.spanId } : {};
}
