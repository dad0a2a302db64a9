import type { ObservableResult } from "@opentelemetry/api";
import { meter } from "./instruments.ts";

/**
 * Reports how many bytes of owners' data of one kind the process holds.
 * @param what in the plural: `events`, `deliveries`
 * @returns a function that stops the reports
 */
export function observeHeldBytes(what: string, heldBytes: () => number): () => void {
  const gauge = meter().createObservableGauge("parley.memory.held", {
    description: "Budgeted bytes of owners' data that the process holds",
    unit: "By",
  });
  const observe = (result: ObservableResult) => result.observe(heldBytes(), { what });
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
