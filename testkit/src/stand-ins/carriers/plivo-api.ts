import { basicAuth } from "@parley/shared/carriers/rest";

/**
 * The part of Plivo's REST API that Parley uses, over accounts in memory, with the fields and codes of the pages that the
 * adapters name.
 */
export interface PlivoApi {
  fetch(request: Request): Promise<Response>;
  addAccount(account: PlivoAccount): void;
  numbers(authId: string): Map<string, PlivoFields>;
  applications(authId: string): Map<string, PlivoFields>;
  calls(authId: string): Map<string, PlivoFields>;
}

export interface PlivoAccount {
  authId: string;
  authToken: string;
  /** E.164, with the id of the application that each has. */
  numbers?: Readonly<Record<string, string | null>>;
  /** By id. */
  applications?: Readonly<Record<string, PlivoFields>>;
}

export type PlivoFields = Record<string, string | number | boolean | null>;

export interface PlivoHooks {
  /** A call was asked for, with the request's parameters. The answer waits for what it returns. @param call by its `request_uuid` */
  placed?(account: PlivoAccount, call: PlivoFields, asked: PlivoFields): void | Promise<void>;
  /** Keys were pressed in a call in progress. */
  pressed?(call: PlivoFields, digits: string): void;
  /** A call in progress was hung up, or sent to another URL. */
  changed?(account: PlivoAccount, call: PlivoFields, asked: PlivoFields | "hang_up"): void;
}

interface State extends PlivoAccount {
  byNumber: Map<string, PlivoFields>;
  byAppId: Map<string, PlivoFields>;
  byUuid: Map<string, PlivoFields>;
}

interface Asked {
  method: string;
  id: string | undefined;
  /** What to do with it, beside `method`. */
  action: string | undefined;
  query: URLSearchParams;
  body: PlivoFields;
}

const VERSION = "/v1/Account/";
const PAGE_MAX = 20;

export function plivoApi(hooks: PlivoHooks = {}): PlivoApi {
  const accounts = new Map<string, State>();
  const stateOf = (authId: string) => {
    const state = accounts.get(authId);
    if (!state) throw new Error(`no account ${authId}`);
    return state;
  };
  return {
    addAccount: (account) => {
      const byNumber = new Map(
        Object.entries(account.numbers ?? {}).map(([e164, appId]) => {
          const number = e164.slice(1);
          const application = appId === null ? null : applicationUri(account.authId, appId);
          return [number, { number, alias: null, application, voice_enabled: true, sms_enabled: true }];
        }),
      );
      const byAppId = new Map(Object.entries(account.applications ?? {}));
      accounts.set(account.authId, { ...account, byNumber, byAppId, byUuid: new Map() });
    },
    numbers: (authId) => stateOf(authId).byNumber,
    applications: (authId) => stateOf(authId).byAppId,
    calls: (authId) => stateOf(authId).byUuid,
    fetch: async (request) => {
      const { pathname, searchParams: query } = new URL(request.url);
      const [authId = "", collection, id, action] = pathname.slice(VERSION.length).split("/").filter(Boolean);
      const account = accounts.get(authId);
      if (!account || request.headers.get("authorization") !== basicAuth(authId, account.authToken)) {
        const error = "Could not verify your access level for that URL. You have to login with proper credentials";
        return new Response(error, { status: 401 });
      }
      const text = await request.text();
      const asked: Asked = { method: request.method, id, query, action, body: text ? JSON.parse(text) : {} };
      if (collection === undefined)
        return Response.json({ auth_id: authId, account_type: "standard", api_id: newUuid() });
      if (collection === "Number") return numbers(account, asked);
      if (collection === "Application") return applications(account, asked);
      if (collection === "Call" || collection === "Request") return calls(account, hooks, asked);
      return missing();
    },
  };
}

const newUuid = () => crypto.randomUUID();
const applicationUri = (authId: string, appId: string) => `/v1/Account/${authId}/Application/${appId}/`;

function numbers({ byNumber, byAppId, authId }: State, { method, id, query, body }: Asked): Response {
  if (id === undefined) return page([...byNumber.values()], query);
  const number = byNumber.get(id);
  if (!number) return missing();
  if (method === "GET") return Response.json({ ...number, api_id: newUuid() });
  const appId = String(body.app_id ?? "");
  if (appId !== "" && !byAppId.has(appId)) return refused("app_id is not valid");
  number.application = appId === "" ? null : applicationUri(authId, appId);
  return Response.json({ message: "changed", api_id: newUuid() }, { status: 202 });
}

function applications({ byAppId }: State, { method, id, query, body }: Asked): Response {
  if (id === undefined && method === "GET") return page([...byAppId.values()], query);
  if (id === undefined) {
    if (!/^[A-Za-z0-9_-]+$/.test(String(body.app_name ?? ""))) return refused("app_name is not valid");
    if (!body.answer_url) return refused("answer_url parameter not present");
    const app_id = String(byAppId.size + 1).padStart(17, "1");
    byAppId.set(app_id, { ...body, app_id });
    return Response.json({ message: "created", app_id, api_id: newUuid() }, { status: 201 });
  }
  const application = byAppId.get(id);
  if (!application) return missing();
  if (method !== "DELETE") return Response.json({ ...application, api_id: newUuid() });
  byAppId.delete(id);
  return new Response(null, { status: 204 });
}

async function calls(account: State, hooks: PlivoHooks, { method, id, action, query, body }: Asked): Promise<Response> {
  const { byUuid, byNumber } = account;
  if (id === undefined && method === "POST") {
    if (!byNumber.has(String(body.from).replace(/^\+/, ""))) return refused("from parameter is not a valid number");
    if (!/^\+?[1-9]\d{6,14}$/.test(String(body.to))) return refused("to parameter is not a valid number");
    if (!body.answer_url) return refused("answer_url parameter not present");
    const request_uuid = newUuid();
    const call: PlivoFields = {
      request_uuid,
      call_uuid: request_uuid,
      from_number: String(body.from).replace(/^\+/, ""),
      to_number: String(body.to).replace(/^\+/, ""),
      call_direction: "outbound",
      call_status: "queued",
    };
    byUuid.set(request_uuid, call);
    await hooks.placed?.(account, call, body);
    return Response.json({ message: "call fired", request_uuid, api_id: newUuid() }, { status: 201 });
  }
  if (id === undefined) {
    const status = query.get("status");
    const found = [...byUuid.values()].filter(({ call_status }) =>
      status === "live" ? call_status === "in-progress" : status === "queued" ? isWaiting(call_status) : true,
    );
    if (status !== null)
      return Response.json({ calls: found.map(({ request_uuid }) => request_uuid), api_id: newUuid() });
    const ended = found.filter(
      (call) =>
        !isWaiting(call.call_status) &&
        call.call_status !== "in-progress" &&
        ["from_number", "to_number"].every((name) => [null, String(call[name])].includes(query.get(name))),
    );
    return page(ended.reverse(), query);
  }
  const call = byUuid.get(id);
  if (!call || (method !== "GET" && !isWaiting(call.call_status) && call.call_status !== "in-progress"))
    return missing();
  if (method === "DELETE") {
    hooks.changed?.(account, call, "hang_up");
    return new Response(null, { status: 204 });
  }
  if (action === "DTMF") {
    if (!/^[0-9*#]+$/.test(String(body.digits))) return refused("digits parameter is not valid");
    hooks.pressed?.(call, String(body.digits));
    return Response.json({ message: "digits sent", api_id: newUuid() }, { status: 202 });
  }
  if (method === "POST") {
    hooks.changed?.(account, call, body);
    return Response.json({ message: "call transferred", call_uuids: [id], api_id: newUuid() }, { status: 202 });
  }
  return Response.json({ ...call, api_id: newUuid() });
}

function isWaiting(status: PlivoFields[string] | undefined): boolean {
  return status === "queued" || status === "ringing";
}

function page(all: readonly PlivoFields[], query: URLSearchParams): Response {
  const limit = Math.min(Number(query.get("limit") ?? PAGE_MAX), PAGE_MAX);
  const offset = Number(query.get("offset") ?? 0);
  const next = offset + limit < all.length ? `?limit=${limit}&offset=${offset + limit}` : null;
  const meta = { limit, offset, total_count: all.length, previous: null, next };
  return Response.json({ api_id: newUuid(), meta, objects: all.slice(offset, offset + limit) });
}

function refused(error: string): Response {
  return Response.json({ api_id: newUuid(), error }, { status: 400 });
}

function missing(): Response {
  return Response.json({ api_id: newUuid(), error: "not found" }, { status: 404 });
}
