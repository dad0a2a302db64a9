import type { CarrierAnswer } from "@parley/shared/carriers/rest";
import { twilioRest } from "@parley/shared/carriers/twilio";
import { callbackUrl } from "@parley/shared/carriers/urls";
import { type Carrier, type CarrierCall, type CarrierEnd, CarrierRefusal, CarrierUnavailable } from "./carrier.ts";
import { dialDocument, pressDocument } from "./documents.ts";

interface TwilioSettings {
  baseUrl: string;
  /** PARLEY_PUBLIC_URL. */
  publicUrl: string;
  accountSid: string;
  authToken: string;
}

/** The number of calls with the same numbers that a search reads. */
const CANDIDATES_MAX = 20;
/** How much earlier than ours Twilio's clock may date a call. */
const CLOCK_MARGIN_MS = 60_000;
const NOT_IN_PROGRESS = "21220";

/**
 * Twilio's Calls resource (https://www.twilio.com/docs/voice/api/call-resource). It does not return a call's callback URLs, but the
 * requests that Twilio made to them are its events (https://www.twilio.com/docs/voice/api/call-event-resource).
 */
export function twilioCarrier(settings: TwilioSettings): Carrier {
  const { publicUrl, accountSid } = settings;
  const rest = twilioRest(settings);
  const calls = `/2010-04-01/Accounts/${accountSid}/Calls`;

  return {
    place: async ({ callId, from, to, ringSeconds, detectMachine }) => {
      const url = (event: string) => callbackUrl(publicUrl, "twilio", callId, event);
      const form = {
        From: from,
        To: to,
        Url: url("answer"),
        Method: "POST",
        Timeout: String(ringSeconds),
        StatusCallback: url("status"),
        StatusCallbackMethod: "POST",
        // The first arrives immediately, so that `find` knows the call.
        StatusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
        ...(detectMachine && {
          MachineDetection: "DetectMessageEnd",
          AsyncAmd: "true",
          AsyncAmdStatusCallback: url("machine"),
          AsyncAmdStatusCallbackMethod: "POST",
        }),
      };
      const { sid } = await rest.send("POST", `${calls}.json`, { form });
      return { carrierCallId: String(sid) };
    },
    find: async ({ callId, from, to, since }) => {
      const query = { From: from, To: to, PageSize: String(CANDIDATES_MAX) };
      const listed = await rest.send("GET", `${calls}.json`, { query });
      const earliest = since.getTime() - CLOCK_MARGIN_MS;
      const candidates = (Array.isArray(listed.calls) ? (listed.calls as CarrierAnswer[]) : []).filter(
        ({ date_created }) => !(new Date(String(date_created)).getTime() < earliest),
      );
      let hasSilent = false;
      for (const call of candidates) {
        const { events } = await rest.send("GET", `${calls}/${call.sid}/Events.json`);
        const asked = Array.isArray(events) ? events.map((event) => String(event?.request?.url ?? "")) : [];
        if (asked.some((url) => url.includes(`/${callId}/`))) return callOf(call);
        // One of our calls would have sent us a request before its end.
        if (asked.length === 0 && call.direction === "outbound-api" && !callOf(call).end) hasSilent = true;
      }
      if (hasSilent) throw new CarrierUnavailable("Twilio does not show yet which callback a call belongs to");
      return null;
    },
    hangUp: async (carrierCallId) => {
      const form = { Status: "completed" };
      await rest.send("POST", `${calls}/${carrierCallId}.json`, { form }).catch((error) => {
        const isOver = error instanceof CarrierRefusal && (error.code === NOT_IN_PROGRESS || error.status === 404);
        if (!isOver) throw error;
      });
    },
    press: async (carrierCallId, keys, streamUrls) => {
      const form = { Twiml: pressDocument(keys, streamUrls) };
      await rest.send("POST", `${calls}/${carrierCallId}.json`, { form });
    },
    transfer: async ({ carrierCallId, ownNumber }, to) => {
      const form = { Twiml: dialDocument("twilio", ownNumber, to) };
      await rest.send("POST", `${calls}/${carrierCallId}.json`, { form });
    },
  };
}

function callOf(call: CarrierAnswer): CarrierCall {
  const status = String(call.status);
  const end = twilioEnd(status, { durationSeconds: call.duration, code: null });
  return { carrierCallId: String(call.sid), state: end ? "ended" : (STATES[status] ?? "queued"), end };
}

const STATES: Readonly<Record<string, CarrierCall["state"]>> = { ringing: "ringing", "in-progress": "in_progress" };

const ENDS: Readonly<Record<string, CarrierEnd["how"]>> = {
  completed: "completed",
  busy: "busy",
  "no-answer": "no_answer",
  canceled: "cancelled",
  failed: "failed",
};

/** The end of a call by its status (https://www.twilio.com/docs/voice/api/call-resource#call-status-values); null while it continues. */
export function twilioEnd(status: string, told: { durationSeconds: unknown; code: string | null }): CarrierEnd | null {
  const how = ENDS[status];
  if (how === undefined) return null;
  const seconds = Number(told.durationSeconds);
  return {
    how,
    notes: told.code === null ? null : `Twilio ${told.code}: the call failed`,
    durationSeconds: told.durationSeconds != null && Number.isFinite(seconds) ? seconds : null,
  };
}
