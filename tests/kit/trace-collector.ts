/** A span as a collector gets it, in OTLP's JSON form (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export interface CollectedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  attributes: Record<string, unknown>;
}

interface ExportRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
}
interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface OtlpSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
}

/** The collector that processes send their traces to. */
export function startTraceCollector() {
  const spans: CollectedSpan[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/v1/traces": {
        POST: async (request) => {
          spans.push(...spansOf((await request.json()) as ExportRequest));
          return Response.json({});
        },
      },
    },
    fetch: () => new Response(null, { status: 404 }),
  });
  return {
    spans,
    /** The variables that make a process send its spans here. */
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.port}`, OTEL_BSP_SCHEDULE_DELAY: "50" },
    stop: () => server.stop(true),
  };
}

function spansOf({ resourceSpans }: ExportRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, traceId, spanId, parentSpanId = "", attributes }) => {
        return { service, name, traceId, spanId, parentSpanId, attributes: valuesOf(attributes) };
      }),
    );
  });
}

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
