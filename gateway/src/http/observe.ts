import { context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { counter, durations, secondsSince } from "@parley/shared/telemetry/instruments";
import { isRecordingTraces, startSpan } from "@parley/shared/telemetry/spans";
import type { Decision } from "../rate-limit/limiter.ts";

const served = durations("http.server.request.duration", "How long requests took until their answer began");
const decided = counter("parley.rate_limit.decisions", "What the rate limit decided of requests with a good key");
export const decidedInMemory = counter(
  "parley.rate_limit.in_memory_decisions",
  "Decisions of this process alone, while Redis was lost",
);

/**
 * Answers a request: counts and times it under the operation it is for, and makes it a span, of the client's own trace
 * if it named one.
 * @param operation its id in the OpenAPI document
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
