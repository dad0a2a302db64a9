import { basicAuth } from "@parley/shared/carriers/rest";

/**
 * The part of Twilio's REST API that Parley uses, over accounts in memory, with the fields and codes of the pages that the
 * adapters name.
 */
export interface TwilioApi {
  fetch(request: Request): Promise<Response>;
  addAccount(account: TwilioAccount): void;
  numbers(accountSid: string): Map<string, TwilioFields>;
  calls(accountSid: string): Map<string, TwilioFields>;
}

export interface TwilioAccount {
  accountSid: string;
  authToken: string;
  status?: "active" | "suspended" | "closed";
  /** E.164, with fields that differ from those of a number that nobody configured. */
  numbers?: Readonly<Record<string, TwilioFields>>;
}

export type TwilioFields = Record<string, string | number | boolean | null | object>;

export interface TwilioHooks {
  /** A call was asked for, with the request's parameters. The answer waits for what it returns. */
  placed?(account: TwilioAccount, call: TwilioFields, form: URLSearchParams): void | Promise<void>;
  /** A call in progress was changed: ended by `Status`, or sent to new instructions by `Twiml`. */
  changed?(account: TwilioAccount, call: TwilioFields, form: URLSearchParams): void;
}

interface State extends TwilioAccount {
  byNumber: Map<string, TwilioFields>;
  bySid: Map<string, TwilioFields>;
}

const VERSION = "/2010-04-01/Accounts/";

export function twilioApi(hooks: TwilioHooks = {}): TwilioApi {
  const accounts = new Map<string, State>();
  const stateOf = (sid: string) => {
    const state = accounts.get(sid);
    if (!state) throw new Error(`no account ${sid}`);
    return state;
  };
  return {
    addAccount: (account) => {
      const byNumber = new Map(
        Object.entries(account.numbers ?? {}).map(([number, fields]) => [number, newNumber(account, number, fields)]),
      );
      accounts.set(account.accountSid, { ...account, byNumber, bySid: new Map() });
    },
    numbers: (sid) => stateOf(sid).byNumber,
    calls: (sid) => stateOf(sid).bySid,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const [sid = "", ...rest] = pathname
        .slice(VERSION.length)
        .replace(/\.json$/, "")
        .split("/");
      const user = userOf(request);
      if (user === null || !/^AC[0-9a-f]{32}$/i.test(user))
        return problem(401, 20003, "Authentication Error - invalid username");
      const account = accounts.get(user);
      if (!account || request.headers.get("authorization") !== basicAuth(user, account.authToken))
        return problem(401, 20003, "Authenticate");
      if (!pathname.startsWith(VERSION) || sid !== user) return notFound(pathname);
      const form = new URLSearchParams(request.method === "POST" ? await request.text() : "");
      const [collection, id] = rest;
      if (collection === undefined) return Response.json({ sid, status: account.status ?? "active", type: "Full" });
      if (collection === "IncomingPhoneNumbers")
        return numbers(account, request.method, id, searchParams, form, pathname);
      if (collection === "Calls") return calls(account, hooks, request.method, id, searchParams, form, pathname);
      return notFound(pathname);
    },
  };
}

const newId = (prefix: string) => `${prefix}${crypto.randomUUID().replaceAll("-", "")}`;

function newNumber(account: TwilioAccount, number: string, fields: TwilioFields): TwilioFields {
  return {
    sid: newId("PN"),
    account_sid: account.accountSid,
    phone_number: number,
    friendly_name: number,
    capabilities: { voice: true, sms: true, mms: false },
    voice_url: "",
    voice_method: "POST",
    voice_fallback_url: "",
    voice_fallback_method: "POST",
    voice_application_sid: "",
    trunk_sid: null,
    status_callback: "",
    status_callback_method: "POST",
    ...fields,
  };
}

/** The parameters of an update and the fields that they set. */
const NUMBER_PARAMETERS: Readonly<Record<string, string>> = {
  VoiceUrl: "voice_url",
  VoiceMethod: "voice_method",
  VoiceFallbackUrl: "voice_fallback_url",
  VoiceFallbackMethod: "voice_fallback_method",
  VoiceApplicationSid: "voice_application_sid",
  TrunkSid: "trunk_sid",
  StatusCallback: "status_callback",
  StatusCallbackMethod: "status_callback_method",
};

function numbers(
  { byNumber }: State,
  method: string,
  id: string | undefined,
  query: URLSearchParams,
  form: URLSearchParams,
  path: string,
): Response {
  if (id === undefined) {
    const wanted = query.get("PhoneNumber");
    const found = [...byNumber.values()].filter(({ phone_number }) => wanted === null || phone_number === wanted);
    return Response.json({ incoming_phone_numbers: found, page: 0, page_size: 50, next_page_uri: null });
  }
  const number = [...byNumber.values()].find(({ sid }) => sid === id);
  if (!number) return notFound(path);
  if (method === "POST") {
    for (const [name, value] of form) {
      const field = NUMBER_PARAMETERS[name];
      if (field === undefined) return problem(400, 20001, `Unknown parameter ${name}`);
      if (name.endsWith("Method") && !["GET", "POST"].includes(value)) return problem(400, 21403, "Invalid Method");
      number[field] = value === "" && field === "trunk_sid" ? null : value;
    }
  }
  return Response.json(number);
}

const CALL_PARAMETERS = [
  "From",
  "To",
  "Url",
  "Method",
  "Timeout",
  "StatusCallback",
  "StatusCallbackMethod",
  "StatusCallbackEvent",
  "MachineDetection",
  "AsyncAmd",
  "AsyncAmdStatusCallback",
  "AsyncAmdStatusCallbackMethod",
];

async function calls(
  account: State,
  hooks: TwilioHooks,
  method: string,
  id: string | undefined,
  query: URLSearchParams,
  form: URLSearchParams,
  path: string,
): Promise<Response> {
  const { bySid, byNumber, accountSid } = account;
  if (id === undefined && method === "POST") {
    const unknown = [...form.keys()].find((name) => !CALL_PARAMETERS.includes(name));
    if (unknown) return problem(400, 20001, `Unknown parameter ${unknown}`);
    const [from, to] = [form.get("From") ?? "", form.get("To") ?? ""];
    if (!byNumber.has(from))
      return problem(400, 21210, `The source phone number provided, ${from}, is not yet verified`);
    if (!/^\+[1-9]\d{6,14}$/.test(to)) return problem(400, 13224, `Dial: Invalid phone number ${to}`);
    const call: TwilioFields = {
      sid: newId("CA"),
      account_sid: accountSid,
      from,
      to,
      status: "queued",
      direction: "outbound-api",
      date_created: new Date().toUTCString(),
      start_time: null,
      end_time: null,
      duration: null,
      answered_by: null,
    };
    bySid.set(String(call.sid), call);
    await hooks.placed?.(account, call, form);
    return Response.json(call, { status: 201 });
  }
  if (id === undefined) {
    const matches = (call: TwilioFields) =>
      ["From", "To", "Status"].every((name) => [null, call[name.toLowerCase()]].includes(query.get(name)));
    return Response.json({ calls: [...bySid.values()].filter(matches).reverse(), next_page_uri: null });
  }
  const call = bySid.get(id);
  if (!call) return notFound(path);
  if (path.endsWith("/Events.json")) return Response.json({ events: call.events ?? [] });
  if (method === "POST") {
    if (["completed", "busy", "failed", "no-answer", "canceled"].includes(String(call.status)))
      return problem(400, 21220, "Call is not in-progress. Cannot redirect.");
    hooks.changed?.(account, call, form);
  }
  return Response.json(call);
}

function userOf(request: Request): string | null {
  const [scheme, encoded = ""] = (request.headers.get("authorization") ?? "").split(" ");
  return scheme === "Basic" ? (atob(encoded).split(":")[0] ?? null) : null;
}

function notFound(path: string): Response {
  return problem(404, 20404, `The requested resource ${path} was not found`);
}

function problem(status: number, code: number, message: string): Response {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  return Response.json({ code, message, more_info, status }, { status });
}
