import { setTimeout as sleep } from "node:timers/promises";
import { type TwilioAccount, type TwilioFields, twilioApi } from "@parley/testkit/stand-ins/carriers/twilio-api";
import { type Dialect, hangUp, newCall, redirect, ring, type SimulatedCall } from "./calls.ts";
import type { Exchange } from "./exchange.ts";

/** Twilio's API, whose calls ring the exchange's phones. */
export function twilioStandIn(exchange: Exchange) {
  return twilioApi({
    placed: (account, fields, form) => {
      const script = exchange.scriptFor(String(fields.to));
      const call = twilioCall(exchange, account, fields, { script, statusUrl: form.get("StatusCallback") ?? "" });
      call.dialect = withMachine(call.dialect, form.get("AsyncAmdStatusCallback"));
      exchange.add(call);
      void ring(call, form.get("Url") ?? "");
      return sleep(script.accept_ms);
    },
    changed: (_, fields, form) => {
      const call = exchange.find(String(fields.sid));
      if (form.get("Status") === "completed" && call) hangUp(call);
      const twiml = form.get("Twiml");
      if (twiml && call) void redirect(call, twiml);
    },
  });
}

/** @param fields of the Call resource, which change with the call */
export function twilioCall(
  exchange: Exchange,
  account: TwilioAccount,
  fields: TwilioFields,
  { script, statusUrl }: { script: SimulatedCall["script"]; statusUrl: string },
): SimulatedCall {
  const events: object[] = [];
  fields.events = events;
  return newCall(
    {
      provider: "TWILIO",
      account: account.accountSid,
      authToken: account.authToken,
      carrierCallId: String(fields.sid),
      direction: fields.direction === "inbound" ? "inbound" : "outbound",
      from: String(fields.from),
      to: String(fields.to),
      script,
      dialect: dialectOf(account, fields, statusUrl),
      speak: exchange.speak,
    },
    (url, status) => events.push({ request: { method: "POST", url }, response: { response_code: status } }),
  );
}

/** https://www.twilio.com/docs/voice/twiml#twilios-request-to-your-application */
function dialectOf({ accountSid }: TwilioAccount, fields: TwilioFields, statusUrl: string): Dialect {
  const form = (call: SimulatedCall, status: string) => ({
    CallSid: call.carrierCallId,
    AccountSid: accountSid,
    From: call.from,
    To: call.to,
    CallStatus: status,
    ApiVersion: "2010-04-01",
    Direction: call.direction === "inbound" ? "inbound" : "outbound-api",
  });
  let sequence = 0;
  return {
    asked: (call) => form(call, call.direction === "inbound" ? "ringing" : "in-progress"),
    changed: (call, status) => {
      fields.status = status;
      const isEnd = !["initiated", "ringing", "in-progress"].includes(status);
      const seconds = call.answeredAt === null ? 0 : Math.round((Date.now() - call.answeredAt) / 1_000);
      if (isEnd) fields.duration = String(seconds);
      // For an incoming call, only the end is reported.
      if (statusUrl === "" || (call.direction === "inbound" && !isEnd)) return;
      call.callbacks.tell(statusUrl, {
        ...form(call, status),
        CallbackSource: "call-progress-events",
        Timestamp: new Date().toUTCString(),
        SequenceNumber: String(sequence++),
        ...(isEnd && { CallDuration: String(seconds) }),
        ...(status === "failed" && { ErrorCode: "32009", SipResponseCode: "503" }),
      });
    },
  };
}

/** Reports who answered, if that was asked for. */
function withMachine(dialect: Dialect, url: string | null): Dialect {
  if (!url) return dialect;
  return {
    ...dialect,
    changed: (call, status) => {
      dialect.changed(call, status);
      if (status !== "in-progress") return;
      const AnsweredBy = call.script.outcome === "machine" ? "machine_end_beep" : "human";
      const MachineDetectionDuration = "1200";
      call.callbacks.tell(url, {
        CallSid: call.carrierCallId,
        AccountSid: call.account,
        AnsweredBy,
        MachineDetectionDuration,
      });
    },
  };
}
