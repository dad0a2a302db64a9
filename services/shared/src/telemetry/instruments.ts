import { type Counter, type Histogram, type Meter, metrics } from "@opentelemetry/api";

/** Bounds of histograms of durations, in seconds: from a cached read to a model's long reply. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The process's meter. To be asked for after telemetry has started: earlier it is mute for good. */
export function meter(): Meter {
  return metrics.getMeter("parley");
}

/** A histogram of durations in seconds, made when it is first used. */
export function durations(name: string, description: string): () => Histogram {
  return once(() =>
    meter().createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } }),
  );
}

/** A counter, made when it is first used. */
export function counter(name: string, description: string, unit = ""): () => Counter {
  return once(() => meter().createCounter(name, { description, unit }));
}

/** Seconds since a `performance.now()`. */
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
