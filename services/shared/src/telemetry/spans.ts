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

/** Called once a collector is there to take spans. */
export function recordTraces(): void {
  recording = true;
}

/** Called once metrics can be read. */
export function recordMetrics(): void {
  measuring = true;
}

/** Whether anybody watches: what is only for that need not be done otherwise. */
export function isWatched(): boolean {
  return recording || measuring;
}

/** Whether spans go anywhere: what is only for them need not be done otherwise. */
export function isRecordingTraces(): boolean {
  return recording;
}

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** W3C trace context of the work that caused this; null begins a trace, and absent it is a part of what runs. */
  parent?: string | null | undefined;
}

/**
 * Runs a piece of work as a span of the trace it is part of; what it awaits is inside too. A ServiceError that is the
 * caller's fault is an outcome, every other error a failure. Without a collector it only runs the work.
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

/** The same of work that gives a stream: the span lasts until the stream ends or its reader leaves. */
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

/** A span that its maker ends. */
export function startSpan(name: string, { kind = SpanKind.INTERNAL, attributes = {}, parent }: SpanOptions): Span {
  return trace.getTracer("parley").startSpan(name, { kind, attributes }, parentOf(parent));
}

export function endFailed(span: Span, error: unknown): void {
  const kind = error instanceof ServiceError ? error.kind : undefined;
  if (kind !== undefined) span.setAttribute("error.type", kind);
  // Never the error's text: it may quote what a user wrote.
  if (kind === undefined || FAULTS.has(kind)) span.setStatus({ code: SpanStatusCode.ERROR });
}

const FAULTS: ReadonlySet<string> = new Set(["internal", "unavailable", "upstream_failed", "upstream_timeout"]);

/** W3C trace context of the span that is active, for what leaves the process or is done later; undefined without one. */
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

/** For log lines. */
export function activeTraceIds(): { trace_id?: string; span_id?: string } {
  const spanContext = recording ? trace.getActiveSpan()?.spanContext() : undefined;
  return spanContext ? { trace_id: spanContext.traceId, span_id: spanContext.spanId } : {};
}
