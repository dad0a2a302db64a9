import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { counter, meter } from "@parley/shared/telemetry/instruments";
import { isWatched } from "@parley/shared/telemetry/spans";
import { type Provider, queuedSince } from "../store/outbound-calls.ts";

const PROVIDERS: readonly Provider[] = ["TWILIO", "PLIVO", "SIP"];
const RESULTS = ["placed", "refused", "unavailable"] as const;

const attempts = counter("parley.calls.attempts", "Attempts to place a call, by provider and result");

/** Counts an attempt: accepted, refused permanently, or to be repeated because the carrier could not be reached. */
export function countAttempt(provider: Provider, result: (typeof RESULTS)[number]): void {
  attempts().add(1, { provider, result });
}

/** Reports, whenever metrics are read, for how long the oldest call in the queue has waited. @returns a function that stops this */
export function observeQueuedCalls(db: Database, clock: Clock): () => void {
  if (!isWatched()) return () => {};
  // Reported from the start, because a counter that first appears at 1 has no rate to alert on.
  for (const provider of PROVIDERS) for (const result of RESULTS) attempts().add(0, { provider, result });
  const age = meter().createObservableGauge("parley.calls.oldest_queued.age", {
    description: "How long the oldest call has waited to be placed",
    unit: "s",
  });
  const observe: Parameters<typeof age.addCallback>[0] = async (result) => {
    const now = clock.now();
    // If the database is unreachable, the last value stands.
    const since = await queuedSince(db);
    result.observe(since ? Math.max(0, now.getTime() - since.getTime()) / 1_000 : 0);
  };
  age.addCallback(observe);
  return () => age.removeCallback(observe);
}
