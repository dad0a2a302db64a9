import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { meter } from "../telemetry/instruments.ts";
import { isWatched } from "../telemetry/spans.ts";
import { measureQueues } from "./store.ts";

/**
 * Reports, whenever metrics are read, how many jobs each of these queues has waiting. @returns a function that stops
 * this
 */
export function observeBacklog(db: Database, queues: readonly string[], clock: Clock): () => void {
  if (!isWatched()) return () => {};
  const due = meter().createObservableGauge("parley.jobs.due", { description: "Jobs that are due or running" });
  const givenUp = meter().createObservableGauge("parley.jobs.given_up", { description: "Jobs that failed for good" });
  const age = meter().createObservableGauge("parley.jobs.oldest_due.age", {
    description: "How long the oldest due job has waited",
    unit: "s",
  });
  const observe: Parameters<ReturnType<typeof meter>["addBatchObservableCallback"]>[0] = async (result) => {
    const now = clock.now();
    // If the database is unreachable or slow, the last values stand, and the other metrics are reported as usual.
    const backlogs = await measureQueues(db, queues, now);
    for (const queue of queues) {
      const backlog = backlogs.find((candidate) => candidate.queue === queue);
      const oldest = backlog?.oldestDueAt ?? now;
      result.observe(due, backlog?.due ?? 0, { queue });
      result.observe(givenUp, backlog?.givenUp ?? 0, { queue });
      result.observe(age, (now.getTime() - oldest.getTime()) / 1_000, { queue });
    }
  };
  const observed = [due, givenUp, age];
  meter().addBatchObservableCallback(observe, observed);
  return () => meter().removeBatchObservableCallback(observe, observed);
}
