import { nullIfMissing } from "@parley/shared/carriers/errors";
import { digitsOf, plivoRest } from "@parley/shared/carriers/plivo";
import type { CarrierAnswer } from "@parley/shared/carriers/rest";
import { callbackUrl } from "@parley/shared/carriers/urls";
import type { Carrier, CarrierCall, CarrierEnd } from "./carrier.ts";
import { transferEvent } from "./documents.ts";

interface PlivoSettings {
  baseUrl: string;
  /** PARLEY_PUBLIC_URL. */
  publicUrl: string;
  carrierId: string;
  authId: string;
  authToken: string;
  /** Our own id of a call of Plivo's, if it is known; null for none. */
  callOf(carrierCallId: string): Promise<string | null>;
}

/** The number of calls with the same numbers that a search reads. */
const CANDIDATES_MAX = 20;
const PAUSE_MS = 500;

/**
 * Plivo's Call resource (https://www.plivo.com/docs/voice/api/call/). It returns nothing of ours, not even the URLs that the call was made with. So a call between the same numbers that was made since, and that is not known to be another of ours, is the one.
 */
export function plivoCarrier(settings: PlivoSettings): Carrier {
  const { publicUrl, carrierId, authId } = settings;
  const rest = plivoRest(settings);
  const account = `/v1/Account/${authId}`;
  const tell = (path: string, query?: Record<string, string>) => rest.send("GET", path, query && { query });

  const underWay = async (status: "queued" | "live"): Promise<CarrierAnswer[]> => {
    const { calls } = await tell(`${account}/Call/`, { status });
    const ids = Array.isArray(calls) ? calls.map(String) : [];
    const found: CarrierAnswer[] = [];
    for (const id of ids.slice(0, CANDIDATES_MAX)) {
      const call = await tell(`${account}/Call/${id}/`, { status }).catch(nullIfMissing);
      if (call) found.push({ call_uuid: id, ...call });
    }
    return found;
  };
  const ended = async (from: string, to: string, since: Date): Promise<CarrierAnswer[]> => {
    const query = {
      from_number: digitsOf(from),
      to_number: digitsOf(to),
      call_direction: "outbound",
      end_time__gte: since.toISOString().slice(0, 19).replace("T", " "),
      limit: String(CANDIDATES_MAX),
    };
    const { objects } = await tell(`${account}/Call/`, query);
    return Array.isArray(objects) ? (objects as CarrierAnswer[]) : [];
  };

  return {
    place: async ({ callId, from, to, ringSeconds, detectMachine }) => {
      const url = (event: string) => callbackUrl(publicUrl, "plivo", callId, event);
      const json = {
        from: digitsOf(from),
        to: digitsOf(to),
        answer_url: url("answer"),
        answer_method: "POST",
        ring_url: url("ring"),
        ring_method: "POST",
        hangup_url: url("hangup"),
        hangup_method: "POST",
        ring_timeout: ringSeconds,
        ...(detectMachine && {
          machine_detection: "true",
          machine_detection_url: url("machine"),
          machine_detection_method: "POST",
        }),
      };
      const { request_uuid } = await rest.send("POST", `${account}/Call/`, { json });
      return { carrierCallId: String(Array.isArray(request_uuid) ? request_uuid[0] : request_uuid) };
    },
    find: async ({ callId, from, to, since }) => {
      const isBetween = (call: CarrierAnswer) =>
        digitsOf(String(call.from ?? call.from_number)) === digitsOf(from) &&
        digitsOf(String(call.to ?? call.to_number)) === digitsOf(to);
      for (const list of [() => underWay("queued"), () => underWay("live"), () => ended(from, to, since)]) {
        for (const call of (await list()).filter(isBetween)) {
          const known = await settings.callOf(String(call.call_uuid));
          if (known === null || known === callId) return callOf(call);
        }
      }
      return null;
    },
    hangUp: async (carrierCallId) => {
      // An unanswered call is still a request.
      const over = await rest.send("DELETE", `${account}/Call/${carrierCallId}/`).catch(nullIfMissing);
      if (!over) await rest.send("DELETE", `${account}/Request/${carrierCallId}/`).catch(nullIfMissing);
    },
    press: async (carrierCallId, keys) => {
      // Plivo does not say what a pause is here.
      for (const part of keys.match(/w+|[^w]+/g) ?? []) {
        if (part.startsWith("w")) await Bun.sleep(part.length * PAUSE_MS);
        else await rest.send("POST", `${account}/Call/${carrierCallId}/DTMF/`, { json: { digits: part, leg: "aleg" } });
      }
    },
    transfer: async ({ carrierCallId, ownNumber }, to) => {
      const aleg_url = callbackUrl(publicUrl, "plivo", carrierId, transferEvent({ from: ownNumber, to }));
      const json = { legs: "aleg", aleg_url, aleg_method: "POST" };
      await rest.send("POST", `${account}/Call/${carrierCallId}/`, { json });
    },
  };
}

function callOf(call: CarrierAnswer): CarrierCall {
  const status = String(call.call_status ?? "").toLowerCase();
  const end =
    call.end_time === undefined ? plivoEnd(status, { durationSeconds: null, cause: null }) : endOfRecord(call);
  return { carrierCallId: String(call.call_uuid), state: end ? "ended" : (STATES[status] ?? "queued"), end };
}

const STATES: Readonly<Record<string, CarrierCall["state"]>> = { ringing: "ringing", "in-progress": "in_progress" };

/** The record of an ended call has a cause instead of a status (https://www.plivo.com/docs/voice/troubleshooting/hangup-causes/). */
function endOfRecord({ hangup_cause_name, call_duration }: CarrierAnswer): CarrierEnd {
  const cause = String(hangup_cause_name ?? "");
  const caused = CAUSES.find(([words]) => cause.toLowerCase().includes(words));
  const how = caused?.[1] ?? (Number(call_duration) > 0 ? "completed" : "failed");
  return { how, notes: how === "completed" ? null : `Plivo ${cause}`, durationSeconds: Number(call_duration) || 0 };
}

const CAUSES = [
  ["busy", "busy"],
  ["no answer", "no_answer"],
  ["timeout", "no_answer"],
  ["cancel", "cancelled"],
  ["error reaching", "failed"],
  ["invalid", "failed"],
] as const satisfies readonly (readonly [string, CarrierEnd["how"]])[];

const ENDS: Readonly<Record<string, CarrierEnd["how"]>> = {
  completed: "completed",
  busy: "busy",
  "no-answer": "no_answer",
  timeout: "no_answer",
  cancel: "cancelled",
  canceled: "cancelled",
  failed: "failed",
};

/** The end of a call by its status (https://www.plivo.com/docs/voice/concepts/callbacks); null while it continues. */
export function plivoEnd(status: string, told: { durationSeconds: unknown; cause: string | null }): CarrierEnd | null {
  const how = ENDS[status];
  if (how === undefined) return null;
  const seconds = Number(told.durationSeconds);
  return {
    how,
    notes: how === "completed" || told.cause === null ? null : `Plivo ${told.cause}`,
    durationSeconds: told.durationSeconds != null && Number.isFinite(seconds) ? seconds : null,
  };
}
