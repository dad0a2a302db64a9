import type { CarrierEvent } from "../carrier.ts";
import { plivoEnd } from "../plivo.ts";

/**
 * The events in a callback about an outgoing call, in their order (https://www.plivo.com/docs/voice/concepts/callbacks
 * and https://www.plivo.com/docs/voice/api/call/asynchronous-machine-detection/).
 */
export function plivoEvents(event: string, form: URLSearchParams): CarrierEvent[] {
  const carrierCallId = form.get("CallUUID") ?? "";
  if (event === "ring") return [{ type: "ringing", carrierCallId }];
  if (event === "machine") {
    if (form.get("Machine")?.toLowerCase() !== "true") return [{ type: "answered", carrierCallId, machine: false }];
    // Plivo does not say when the machine's greeting is over.
    return [
      { type: "answered", carrierCallId, machine: true },
      { type: "machine_ready", carrierCallId },
    ];
  }
  const [name, code] = [form.get("HangupCauseName") ?? form.get("HangupCause"), form.get("HangupCauseCode")];
  const cause = name === null && code === null ? null : [code, name].filter(Boolean).join(": ");
  const end = plivoEnd(form.get("CallStatus") ?? "", { durationSeconds: form.get("Duration"), cause });
  return event === "hangup" && end ? [{ type: "ended", carrierCallId, end }] : [];
}

/** Plivo writes numbers without the plus. */
export function e164(number: string): string {
  return /^[1-9]\d{6,14}$/.test(number) ? `+${number}` : number;
}
