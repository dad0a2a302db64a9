import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { invalid } from "@parley/shared/errors";

const LATENCY_MAX_MS = 600_000;

/** What a runtime measured, stages in milliseconds; null if nothing. @throws ServiceError invalid, naming `field` */
export function latencyOf(field: string, given: TurnLatency | undefined): Partial<TurnLatency> | null {
  const measured = Object.entries(given ?? {}).filter(([, value]) => value !== undefined && value !== false);
  for (const [, value] of measured) {
    if (typeof value === "number" && (value < 0 || value > LATENCY_MAX_MS))
      throw invalid(field, `${field} must have milliseconds between 0 and ${LATENCY_MAX_MS}`);
  }
  return measured.length === 0 ? null : Object.fromEntries(measured);
}
