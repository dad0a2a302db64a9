import type { ToolAuth, ToolHeader, ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { PARAMETER_PLACES } from "@parley/shared/domain/tools";
import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import { secretName } from "./names.ts";
import type { Parts } from "./schemas.ts";

/** How requests of an operation are authenticated. The secrets are named, and must then be made. */
interface Security {
  auth: ToolAuth | undefined;
  headers: ToolHeader[];
  parameters: ToolParameter[];
  notes: string[];
}

/** Of one way to authenticate; no document has more. */
const SCHEMES_MAX = 10;
/** What the owner puts in place of what a document does not tell. */
const TO_REPLACE = "REPLACE_ME";

/** Takes the first of the ways to authenticate that the operation offers. @throws Unusable */
export function securityOf(parts: Parts, document: JsonObject, operation: JsonObject): Security {
  const ways = operation.security ?? document.security;
  const way = (Array.isArray(ways) ? ways : []).find((each) => isObject(each) && Object.keys(each).length > 0) ?? {};
  const components = isObject(document.components) ? document.components : {};
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {};
  const title = isObject(document.info) ? String(document.info.title ?? "") : "";
  const security: Security = { auth: undefined, headers: [], parameters: [], notes: [] };
  for (const [name, scopes] of Object.entries(way as JsonObject).slice(0, SCHEMES_MAX)) {
    if (!Object.hasOwn(schemes, name)) security.notes.push(`The security scheme ${name} is not in the document`);
    else
      addScheme(security, parts.resolve(schemes[name]), secretName(title, name), Array.isArray(scopes) ? scopes : []);
  }
  return security;
}

function addScheme(security: Security, scheme: JsonObject, secret: string, scopes: readonly unknown[]): void {
  if (scheme.type === "apiKey") {
    addKey(security, scheme, secret);
    return;
  }
  const auth = authOf(scheme, secret, scopes);
  if (!auth)
    security.notes.push(`The security scheme of the type ${scheme.type} ${scheme.scheme ?? ""} is not supported`);
  else if (security.auth) security.notes.push("A second way to authenticate at once is left out");
  else security.auth = auth;
  if (auth?.kind?.$case === "basic") security.notes.push(`Replace the user name ${TO_REPLACE}`);
  if (auth?.kind?.$case === "oauth2ClientCredentials") security.notes.push(`Replace the client ID ${TO_REPLACE}`);
}

function authOf(scheme: JsonObject, secret: string, scopes: readonly unknown[]): ToolAuth | null {
  const bearer: ToolAuth = { kind: { $case: "bearer", value: { secret } } };
  const kind = scheme.type === "http" ? String(scheme.scheme).toLowerCase() : scheme.type;
  if (kind === "basic") return { kind: { $case: "basic", value: { username: TO_REPLACE, secret } } };
  if (kind === "bearer" || kind === "openIdConnect") return bearer;
  if (kind !== "oauth2") return null;
  const flows = isObject(scheme.flows) ? scheme.flows : {};
  const { tokenUrl } = isObject(flows.clientCredentials) ? flows.clientCredentials : {};
  // A token of another flow is one that the owner has got.
  if (typeof tokenUrl !== "string" || !URL.canParse(tokenUrl)) return bearer;
  const scope = scopes.filter((each) => typeof each === "string").join(" ") || undefined;
  return { kind: { $case: "oauth2ClientCredentials", value: { tokenUrl, clientId: TO_REPLACE, secret, scope } } };
}

function addKey(security: Security, { in: place, name }: JsonObject, secret: string): void {
  const key = String(name);
  if (place === "query") {
    const source = { $case: "secret" as const, value: secret };
    security.parameters.push({ name: key, in: PARAMETER_PLACES.query, required: true, source, allowedFrom: undefined });
  } else if (place !== "header") security.notes.push(`A key in a ${place} is not supported`);
  else if (security.auth) security.headers.push({ name: key, value: { $case: "secret", value: secret } });
  else security.auth = { kind: { $case: "header", value: { name: key, secret } } };
}
