import type { ObservableResult } from "@opentelemetry/api";
import { meter } from "./instruments.ts";

/**
 * Shows, whenever metrics are read, how many bytes of owners' data the process holds of one kind.
 * @param what in the plural: `events`, `deliveries`
 * @returns what stops that
 */
export function observeHeldBytes(what: string, heldBytes: () => number): () => void {
  const gauge = meter().createObservableGauge("parley.memory.held", {
    description: "Bytes of owners' data that the process holds, of those it budgets",
    unit: "By",
  });
  const observe = (result: ObservableResult) => result.observe(heldBytes(), { what });
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
