import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { ATTR_SERVICE_NAME } from "@opentelemetry/semantic-conventions";
import { makeValidator, num, str } from "envalid";
import type { ConfigOf } from "../config.ts";
import { recordMetrics, recordTraces } from "./spans.ts";

const ratio = makeValidator<number>((text) => {
  const number = Number(text);
  if (!(number >= 0 && number <= 1)) throw new Error(`must be a number from 0 to 1, not "${text}"`);
  return number;
});

/** The telemetry variables of every process. The OTEL_ names are OpenTelemetry's own. */
export const TELEMETRY_VARIABLES = {
  PARLEY_ADMIN_LISTEN: str({
    default: "",
    desc: "host:port or unix:path to serve this process's health and metrics on",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: str({
    default: "",
    desc: "http address of an OTLP collector; without it there are no traces",
  }),
  OTEL_TRACES_SAMPLER_ARG: ratio({ default: 1, desc: "fraction of traces to record, from 0 to 1" }),
  OTEL_BSP_SCHEDULE_DELAY: num({ default: 5_000, desc: "milliseconds between exports of spans" }),
};

interface Telemetry {
  /** All metrics in Prometheus' text format; none without an admin address. */
  metrics(): Promise<string>;
  /** Sends everything that is still buffered. */
  stop(): Promise<void>;
}

/**
 * Registers the exporters of the process's spans and metrics; without a collector and an admin address telemetry costs
 * almost nothing. Call it before the first instrument is created: OpenTelemetry hands out mute ones before.
 */
export function startTelemetry(service: string, env: ConfigOf<typeof TELEMETRY_VARIABLES>): Telemetry {
  const resource = resourceFromAttributes({ [ATTR_SERVICE_NAME]: `parley-${service}` });
  const stops: (() => Promise<void>)[] = [];
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT !== "") {
    // The exporter reads the collector's address and its other settings from the environment.
    const processor = new BatchSpanProcessor({
      exporter: new OTLPTraceExporter(),
      scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
    });
    const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(env.OTEL_TRACES_SAMPLER_ARG) });
    const provider = new TracerProvider({ resource, sampler, spanProcessors: [processor] });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    recordTraces();
    // An unreachable collector must not delay the shutdown for long.
    stops.push(() => Promise.race([provider.shutdown().catch(() => {}), Bun.sleep(FLUSH_MS)]));
  }
  const reader = new PulledReader();
  if (env.PARLEY_ADMIN_LISTEN !== "") {
    metrics.setGlobalMeterProvider(new MeterProvider({ resource, readers: [reader] }));
    recordMetrics();
  }
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return {
    metrics: async () => serializer.serialize((await reader.collect({ timeoutMillis: OBSERVED_MS })).resourceMetrics),
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  };
}

const FLUSH_MS = 2_000;
/**
 * Time limit for metrics that need a query, such as the number of due jobs: well below Prometheus' limit of 10 s for
 * the whole scrape.
 */
const OBSERVED_MS = 2_000;

/** Reads the metrics on request. */
class PulledReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}
