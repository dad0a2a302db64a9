import { E164 } from "@parley/shared/phone/e164";
import type { PlivoAccount, PlivoApi, PlivoFields } from "@parley/testkit/stand-ins/carriers/plivo-api";
import type { TwilioAccount, TwilioApi, TwilioFields } from "@parley/testkit/stand-ins/carriers/twilio-api";
import { controlled } from "../serve.ts";
import { answer, type SimulatedCall } from "./calls.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { plivoCall, plivoStandIn } from "./plivo.ts";
import { type Script, scriptOf } from "./scripts.ts";
import { twilioCall, twilioStandIn } from "./twilio.ts";

interface CarrierOptions {
  /** 0 takes any free port. */
  port: number;
  /** An OpenAI audio API, for what phones say. */
  speechUrl: string;
}

const BODY_BYTES_MAX = 64 * 1024;

/** The accounts that it begins with. */
const TWILIO: TwilioAccount = {
  accountSid: "AC00000000000000000000000000000001",
  authToken: "stand-in-auth-token",
  numbers: { "+12025550100": {}, "+12025550101": {}, "+12025550102": {} },
};
const PLIVO: PlivoAccount = {
  authId: "MA000000000000000001",
  authToken: "stand-in-auth-token",
  numbers: { "+12025550110": null, "+12025550111": null, "+12025550112": null },
};

/**
 * Serves Twilio's and Plivo's REST APIs, and calls whose callbacks it signs and whose audio it streams as they do. `/control` says what
 * phones do, and has one call in. @throws when the port is taken
 */
export function startCarrier({ port, speechUrl }: CarrierOptions) {
  const exchange = createExchange(speechUrl);
  const twilio = { api: twilioStandIn(exchange), accounts: new Map<string, TwilioAccount>() };
  const plivo = { api: plivoStandIn(exchange), accounts: new Map<string, PlivoAccount>() };
  const addTwilio = (account: TwilioAccount) => {
    twilio.api.addAccount(account);
    twilio.accounts.set(account.accountSid, account);
  };
  const addPlivo = (account: PlivoAccount) => {
    plivo.api.addAccount(account);
    plivo.accounts.set(account.authId, account);
  };
  addTwilio(TWILIO);
  addPlivo(PLIVO);

  const callIn = (to: string, from: string, script: Script): SimulatedCall | null => {
    for (const account of twilio.accounts.values()) {
      const begun = twilioCallIn(exchange, twilio.api, account, { to, from, script });
      if (begun) return begun;
    }
    for (const account of plivo.accounts.values()) {
      const begun = plivoCallIn(exchange, plivo.api, account, { to, from, script });
      if (begun) return begun;
    }
    return null;
  };

  const server = Bun.serve({
    port,
    // It has no authentication.
    hostname: "127.0.0.1",
    idleTimeout: 60,
    maxRequestBodySize: BODY_BYTES_MAX,
    routes: {
      "/healthz": { GET: () => Response.json({ status: "ok" }) },
      "/control/accounts": {
        POST: (request) =>
          controlled(request, (body) => {
            const numbers = Array.isArray(body.numbers) ? body.numbers.map(numberOf) : [];
            const authToken = String(body.auth_token ?? "");
            if (body.provider === "TWILIO")
              addTwilio({ accountSid: String(body.account_sid), authToken, numbers: keyed(numbers, {}) });
            else if (body.provider === "PLIVO")
              addPlivo({ authId: String(body.auth_id), authToken, numbers: keyed(numbers, null) });
            else throw new Error("provider is not valid: TWILIO or PLIVO");
            return {};
          }),
      },
      "/control/phones/:number": {
        PUT: (request) =>
          controlled(request, (body) => {
            exchange.setScript(numberOf(request.params.number), scriptOf(body));
            return {};
          }),
      },
      "/control/calls": {
        GET: () => Response.json({ calls: exchange.calls().map(shown) }),
        POST: (request) =>
          controlled(request, ({ to, from = "+12025550199", ...script }) => {
            const call = callIn(numberOf(to), numberOf(from), scriptOf(script));
            if (!call) throw new Error(`to is not valid: nobody has imported ${to} from this carrier`);
            return shown(call);
          }),
      },
      "/control/calls/:id": {
        GET: ({ params }) => {
          const call = exchange.find(params.id);
          return call ? Response.json(shown(call)) : Response.json({ detail: "no such call" }, { status: 404 });
        },
      },
    },
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/2010-04-01/")) return twilio.api.fetch(request);
      if (pathname.startsWith("/v1/Account/")) return plivo.api.fetch(request);
      return Response.json({ detail: `Unknown route ${pathname}` }, { status: 404 });
    },
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}

interface CallIn {
  to: string;
  from: string;
  script: Script;
}

/** Null if the account does not have the number, or if the number is not configured. */
function twilioCallIn(exchange: Exchange, api: TwilioApi, account: TwilioAccount, { to, from, script }: CallIn) {
  const number = api.numbers(account.accountSid).get(to);
  if (!number?.voice_url) return null;
  const sid = `CA${crypto.randomUUID().replaceAll("-", "")}`;
  const fields: TwilioFields = {
    sid,
    account_sid: account.accountSid,
    from,
    to,
    status: "ringing",
    direction: "inbound",
  };
  api.calls(account.accountSid).set(sid, fields);
  const call = twilioCall(exchange, account, fields, { script, statusUrl: String(number.status_callback ?? "") });
  exchange.add(call);
  void answer(call, String(number.voice_url));
  return call;
}

function plivoCallIn(exchange: Exchange, api: PlivoApi, account: PlivoAccount, { to, from, script }: CallIn) {
  const uri = api.numbers(account.authId).get(to.slice(1))?.application;
  const application = api.applications(account.authId).get(/Application\/([^/]+)\//.exec(String(uri))?.[1] ?? "");
  if (!application) return null;
  const call_uuid = crypto.randomUUID();
  const [from_number, to_number] = [from.slice(1), to.slice(1)];
  const fields: PlivoFields = { call_uuid, from_number, to_number, call_direction: "inbound", call_status: "ringing" };
  api.calls(account.authId).set(call_uuid, fields);
  const urls = { ring: "", hangup: String(application.hangup_url ?? ""), machine: "" };
  const call = plivoCall(exchange, account, fields, { script, urls });
  exchange.add(call);
  void answer(call, String(application.answer_url));
  return call;
}

function shown(call: SimulatedCall) {
  const { carrierCallId, provider, direction, from, to, status, rings, notes, media } = call;
  const heard_bytes = media?.heard() ?? call.heardBytes;
  const said_lines = media?.said() ?? call.saidLines;
  return {
    carrier_call_id: carrierCallId,
    provider,
    direction,
    from,
    to,
    status,
    rings,
    heard_bytes,
    said_lines,
    notes,
  };
}

function numberOf(value: unknown): string {
  const number = String(value ?? "");
  if (!E164.test(number)) throw new Error(`${number || "a number"} is not valid: give numbers in E.164 form`);
  return number;
}

function keyed<V>(names: readonly string[], value: V): Record<string, V> {
  return Object.fromEntries(names.map((name) => [name, structuredClone(value)]));
}
