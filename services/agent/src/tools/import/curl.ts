import type { ToolAuth, ToolHeader, ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES, TOOL_METHODS } from "@parley/shared/domain/tools";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { isObject, parseObject } from "@parley/shared/json/json-object";
import { isReservedHeader } from "../check-headers.ts";
import { type CurlRequest, readCurl } from "./curl-options.ts";
import { exampleSchema } from "./example-schema.ts";
import { type Imported, toolFrom } from "./imported.ts";
import { isSecretName, secretName, toolName } from "./names.ts";
import { Unusable } from "./unusable.ts";

/** What every curl sends. */
const OF_CURL = /^(?:accept|user-agent)$/i;

/**
 * Makes a tool of a curl command: what it sends becomes parameters with examples, which the model fills in, and what authenticates
 * becomes secrets, whose values are left out.
 */
export function importCurl(command: string, allowedHosts: AllowList): Imported {
  try {
    const request = readCurl(command);
    const { http, route } = httpOf(request);
    const { host } = new URL(http.url);
    const [method] = Object.entries(TOOL_METHODS).find(([, value]) => value === http.method) ?? [""];
    const name = toolName(`${method} ${route}`.toLowerCase(), new Set());
    return { tools: [toolFrom(name, `${method} ${route} of ${host}.`, http, allowedHosts)], problems: [] };
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    return { tools: [], problems: [{ operation: "curl", problem: `${error.message}.` }] };
  }
}

function httpOf(request: CurlRequest) {
  const url = URL.parse(request.url);
  if (!url) throw new Unusable("The address of the command is not a valid URL");
  const sendsBody = request.data.length > 0 && !request.isGet;
  const named = request.method?.toUpperCase() ?? (request.isHead ? "HEAD" : sendsBody ? "POST" : "GET");
  const method = Object.hasOwn(TOOL_METHODS, named) ? TOOL_METHODS[named as keyof typeof TOOL_METHODS] : null;
  if (method === null) throw new Unusable(`Tools have no ${named.slice(0, 20)} requests`);
  const { auth, headers } = credentialsOf(request, url);
  const query = new URLSearchParams(
    request.isGet ? [url.search.slice(1), ...request.data].filter(Boolean).join("&") : url.search,
  );
  const inQuery = [...new Map(query)].map(([name, value]) => parameterOf("query", name, value, url.hostname));
  const inBody = sendsBody ? Object.entries(bodyOf(request)) : [];
  const parameters = [...inQuery, ...inBody.map(([name, value]) => parameterOf("body", name, value, url.hostname))];
  return { http: { method, url: `${url.origin}${url.pathname}`, headers, auth, parameters }, route: url.pathname };
}

/** @throws Unusable for a body that is no JSON object */
function bodyOf({ data, isJson, headers }: CurlRequest): Record<string, unknown> {
  const [, type = ""] = headers.find(([name]) => name.toLowerCase() === "content-type") ?? [];
  const body = parseObject(data.join(isJson ? "" : "&"));
  if (body && (type === "" || /json/i.test(type))) return body;
  throw new Unusable("The body is no JSON object, and tools send one");
}

function parameterOf(place: "query" | "body", name: string, value: unknown, host: string): ToolParameter {
  const source: ToolParameter["source"] =
    isSecretName(name) && !isObject(value)
      ? { $case: "secret", value: secretName(host, name) }
      : { $case: "schema", value: exampleSchema(value, place === "query") };
  return { name, in: PARAMETER_PLACES[place], required: true, source, allowedFrom: undefined };
}

function credentialsOf(
  { headers, user, bearer }: CurlRequest,
  { hostname, username }: URL,
): { auth: ToolAuth | undefined; headers: ToolHeader[] } {
  let auth: ToolAuth | undefined;
  const named = user ?? (username === "" ? null : username);
  if (named !== null) auth = basic(named.split(":", 1)[0] ?? "", hostname);
  if (bearer !== null) auth = { kind: { $case: "bearer", value: { secret: secretName(hostname, "token") } } };
  const kept: ToolHeader[] = [];
  for (const [name, value] of headers) {
    if (OF_CURL.test(name) || isReservedHeader(name)) continue;
    const given = authorizationOf(name, value, hostname);
    if (given && !auth) auth = given;
    else if (given || isSecretName(name))
      kept.push({ name, value: { $case: "secret", value: secretName(hostname, name) } });
    else kept.push({ name, value: { $case: "text", value } });
  }
  return { auth, headers: kept };
}

/** The kind of `auth` that sends such a header; null for one that does not authenticate. */
function authorizationOf(name: string, value: string, hostname: string): ToolAuth | null {
  const [, scheme = "", credential = ""] = /^(\S+)\s+(.*)$/.exec(value) ?? [];
  if (name.toLowerCase() === "authorization") {
    if (/^bearer$/i.test(scheme))
      return { kind: { $case: "bearer", value: { secret: secretName(hostname, "token") } } };
    if (/^basic$/i.test(scheme))
      return basic(Buffer.from(credential, "base64").toString().split(":", 1)[0] ?? "", hostname);
  }
  if (!isSecretName(name)) return null;
  return { kind: { $case: "header", value: { name, secret: secretName(hostname, name) } } };
}

function basic(username: string, hostname: string): ToolAuth {
  return { kind: { $case: "basic", value: { username, secret: secretName(hostname, "password") } } };
}
