import type { CarrierEvent } from "../carrier.ts";
import { twilioEnd } from "../twilio.ts";

/**
 * The events in a callback about an outgoing call, in their order
 * (https://www.twilio.com/docs/voice/api/call-resource#statuscallbackevent and
 * https://www.twilio.com/docs/voice/answering-machine-detection#asyncamd).
 */
export function twilioEvents(event: string, form: URLSearchParams): CarrierEvent[] {
  const carrierCallId = form.get("CallSid") ?? "";
  if (event === "machine") return machineEvents(form.get("AnsweredBy") ?? "", carrierCallId);
  const status = form.get("CallStatus") ?? "";
  if (status === "ringing") return [{ type: "ringing", carrierCallId }];
  if (status === "in-progress") return [{ type: "answered", carrierCallId, machine: null }];
  const code = form.get("ErrorCode") ?? form.get("SipResponseCode");
  const end = twilioEnd(status, { durationSeconds: form.get("CallDuration"), code: status === "failed" ? code : null });
  return end ? [{ type: "ended", carrierCallId, end }] : [];
}

/** Whether a machine answered, if Twilio was asked for it and knows. */
export function machineOf(answeredBy: string): boolean | null {
  if (answeredBy === "human") return false;
  return answeredBy.startsWith("machine_") || answeredBy === "fax" ? true : null;
}

function machineEvents(answeredBy: string, carrierCallId: string): CarrierEvent[] {
  const machine = machineOf(answeredBy);
  if (machine === null) return [];
  const answered: CarrierEvent = { type: "answered", carrierCallId, machine };
  return answeredBy.startsWith("machine_end") ? [answered, { type: "machine_ready", carrierCallId }] : [answered];
}
