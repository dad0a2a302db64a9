import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { invalid } from "@parley/shared/errors";

const LATENCY_MAX_MS = 600_000;

/** The stages that a runtime measured, in milliseconds; null if none. @throws ServiceError invalid, naming `field` */
export function latencyOf(field: string, given: TurnLatency | undefined): Partial<TurnLatency> | null {
  const stages = Object.entries(given ?? {}).filter(([, ms]) => ms !== undefined);
  for (const [, ms] of stages) {
    if (ms < 0 || ms > LATENCY_MAX_MS)
      throw invalid(field, `${field} must have milliseconds between 0 and ${LATENCY_MAX_MS}`);
  }
  return stages.length === 0 ? null : Object.fromEntries(stages);
}
