import { type Counter, type Histogram, type Meter, metrics } from "@opentelemetry/api";

/** Histogram bounds for durations in seconds, from a cached read to a model's long reply. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The process's meter. Call it only after telemetry has started: earlier meters stay mute. */
export function meter(): Meter {
  return metrics.getMeter("parley");
}

/** A histogram of durations in seconds, created on first use. */
export function durations(name: string, description: string): () => Histogram {
  return once(() =>
    meter().createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } }),
  );
}

/** A counter, created on first use. */
export function counter(name: string, description: string, unit = ""): () => Counter {
  return once(() => meter().createCounter(name, { description, unit }));
}

/** Seconds since a `performance.now()` value. */
export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
