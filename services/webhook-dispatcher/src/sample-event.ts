import { samplePayload } from "@parley/shared/domain/event-samples";
import { newId, newUuid } from "@parley/shared/ids";
import type { EventName } from "@parley/shared/portable/events";
import { activeTraceparent } from "@parley/shared/telemetry/spans";
import type { EventRow } from "./store/events.ts";

/** Makes a test event, about things that do not exist. */
export function sampleEvent(ownerId: string, event: EventName, now: Date): EventRow {
  const eventId = newId("evt");
  const conversationId = newUuid();
  const ids = {
    eventId,
    conversationId,
    recordId: newId("cnv"),
    agentId: newId("agt"),
    toolId: newId("tol"),
    callId: newId("tcl"),
    alertId: newId("alr"),
  };
  const payload = samplePayload(event, ids, now);
  return {
    ownerId,
    eventId,
    event,
    conversationId: "conversation_id" in payload ? conversationId : "",
    payload: JSON.stringify(payload),
    test: true,
    traceparent: activeTraceparent() ?? null,
  };
}
