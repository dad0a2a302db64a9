import type { OperatorState } from "@parley/proto/parley/conversation/v1/live.ts";
import type { TakenOver } from "../store/conversations.ts";

/** Of a row, or of an event's data. */
export function operatorState({ isMuted, takenOver }: { isMuted?: unknown; takenOver?: unknown }): OperatorState {
  const taken = takenOver as TakenOver | null | undefined;
  return { isMuted: isMuted === true, takenOver: taken ? { by: taken.by, since: new Date(taken.since) } : undefined };
}
