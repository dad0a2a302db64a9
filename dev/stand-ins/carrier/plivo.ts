import { setTimeout as sleep } from "node:timers/promises";
import { type PlivoAccount, type PlivoFields, plivoApi } from "@parley/testkit/stand-ins/carriers/plivo-api";
import { type Dialect, hangUp, newCall, redirect, ring, type SimulatedCall } from "./calls.ts";
import type { Exchange } from "./exchange.ts";

/** Plivo's API, whose calls ring the exchange's phones. */
export function plivoStandIn(exchange: Exchange) {
  return plivoApi({
    placed: (account, fields, asked) => {
      const script = exchange.scriptFor(`+${fields.to_number}`);
      const urls = {
        ring: text(asked.ring_url),
        hangup: text(asked.hangup_url),
        machine: text(asked.machine_detection_url),
      };
      const call = plivoCall(exchange, account, fields, { script, urls });
      exchange.add(call);
      void ring(call, text(asked.answer_url));
      return sleep(script.accept_ms);
    },
    pressed: (fields, digits) =>
      exchange.find(String(fields.request_uuid ?? fields.call_uuid))?.notes.push(`pressed ${digits}`),
    changed: (_, fields, asked) => {
      const call = exchange.find(String(fields.request_uuid ?? fields.call_uuid));
      if (!call) return;
      if (asked === "hang_up") hangUp(call);
      else
        void call.callbacks
          .ask(text(asked.aleg_url), call.dialect.asked(call))
          .then((xml) => redirect(call, xml))
          .catch((error) => call.notes.push(String(error)));
    },
  });
}

interface Urls {
  ring: string;
  hangup: string;
  machine: string;
}

/** @param fields of the Call resource, which change with the call */
export function plivoCall(
  exchange: Exchange,
  account: PlivoAccount,
  fields: PlivoFields,
  { script, urls }: { script: SimulatedCall["script"]; urls: Urls },
): SimulatedCall {
  return newCall(
    {
      provider: "PLIVO",
      account: account.authId,
      authToken: account.authToken,
      carrierCallId: String(fields.call_uuid),
      direction: fields.call_direction === "inbound" ? "inbound" : "outbound",
      from: `+${fields.from_number}`,
      to: `+${fields.to_number}`,
      script,
      dialect: dialectOf(fields, urls),
      speak: exchange.speak,
    },
    () => {},
  );
}

/** https://www.plivo.com/docs/voice/concepts/callbacks */
function dialectOf(fields: PlivoFields, urls: Urls): Dialect {
  const form = (call: SimulatedCall, Event: string, CallStatus: string) => ({
    CallUUID: call.carrierCallId,
    From: call.from.slice(1),
    To: call.to.slice(1),
    CallStatus,
    Direction: call.direction,
    Event,
    ...(call.direction === "outbound" && { RequestUUID: call.carrierCallId, ALegUUID: call.carrierCallId }),
  });
  return {
    asked: (call) => form(call, "StartApp", call.direction === "inbound" ? "ringing" : "in-progress"),
    changed: (call, status) => {
      const told = STATUSES[status] ?? status;
      fields.call_status = told;
      const { callbacks, script, answeredAt } = call;
      if (status === "ringing" && urls.ring) callbacks.tell(urls.ring, form(call, "Ring", "ringing"));
      if (status === "in-progress" && urls.machine) {
        const Machine = String(script.outcome === "machine");
        callbacks.tell(urls.machine, {
          ...form(call, "MachineDetection", "in-progress"),
          Machine,
          IfMachine: "continue",
        });
      }
      const [code, name] = CAUSES[status] ?? [];
      if (code === undefined || name === undefined) return;
      const seconds = answeredAt === null ? 0 : Math.round((Date.now() - answeredAt) / 1_000);
      Object.assign(fields, { end_time: new Date().toISOString(), hangup_cause_name: name, call_duration: seconds });
      if (!urls.hangup) return;
      const cause = { HangupCauseName: name, HangupCauseCode: code, HangupSource: "Callee" };
      callbacks.tell(urls.hangup, { ...form(call, "Hangup", told), ...cause, Duration: String(seconds) });
    },
  };
}

const STATUSES: Readonly<Record<string, string>> = {
  initiated: "queued",
  canceled: "cancel",
  "no-answer": "no-answer",
};

/** https://www.plivo.com/docs/voice/troubleshooting/hangup-causes/ */
const CAUSES: Readonly<Record<string, readonly [code: string, name: string]>> = {
  completed: ["4000", "Normal Hangup"],
  busy: ["3010", "Busy Line"],
  "no-answer": ["3000", "No Answer"],
  canceled: ["1010", "Cancelled"],
  failed: ["2000", "Network Congestion"],
};

function text(value: PlivoFields[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
