import { context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { counter, durations, secondsSince } from "@parley/shared/telemetry/instruments";
import { isRecordingTraces, startSpan } from "@parley/shared/telemetry/spans";
import type { Decision } from "../rate-limit/limiter.ts";

const served = durations("http.server.request.duration", "Duration of requests until their response started");
const decided = counter("parley.rate_limit.decisions", "Rate limit decisions on requests with a valid key");
export const decidedInMemory = counter(
  "parley.rate_limit.in_memory_decisions",
  "Rate limit decisions in memory, while Redis was unavailable",
);

/**
 * Handles a request: counts and times it by operation, and makes it a span of the client's trace if it named one.
 * @param operation the operation's id in the OpenAPI document
 */
export async function observed(
  operation: string,
  request: Request,
  answer: () => Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now();
  const span = isRecordingTraces() ? requestSpan(operation, request) : null;
  const response = span ? await context.with(trace.setSpan(context.active(), span), answer) : await answer();
  const { status } = response;
  served().record(secondsSince(startedAt), { operation, status });
  if (span) {
    span.setAttribute("http.response.status_code", status);
    if (status >= 500) span.setAttribute("error.type", String(status)).setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
  return response;
}

export function countDecision({ allowed }: Decision): void {
  decided().add(1, { outcome: allowed ? "allowed" : "refused" });
}

function requestSpan(operation: string, request: Request): Span {
  return startSpan(operation, {
    kind: SpanKind.SERVER,
    attributes: { "http.request.method": request.method, "parley.operation": operation },
    parent: request.headers.get("traceparent"),
  });
}
