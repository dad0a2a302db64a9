import type {
  HttpTool,
  ToolAssignment,
  ToolAuth,
  ToolHeader,
  ToolParameter,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { ParameterPlace, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import { nameOf } from "@parley/shared/domain/api-names";
import { PARAMETER_PLACES } from "@parley/shared/domain/tools";
import { isSystemVariable, normalizeVariableName } from "@parley/shared/domain/variables/name";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid } from "@parley/shared/errors";
import { checkTemplate, pathParametersOf } from "./addresses.ts";
import { checkHeaderName, checkHeaderValue } from "./check-headers.ts";
import { checkOnce, checkParameters, checkVariable } from "./check-parameters.ts";

const { PARAMETER_PLACE_PATH: PATH, PARAMETER_PLACE_HEADER: HEADER, PARAMETER_PLACE_BODY: BODY } = ParameterPlace;
const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** @throws ServiceError invalid at the first rule that the tool breaks */
export function checkHttp(tool: HttpTool, allowedHosts: AllowList): void {
  if (tool.method === ToolMethod.TOOL_METHOD_UNSPECIFIED) throw invalid("method", "method is required");
  checkTemplate("url", tool.url, allowedHosts);
  checkPlaces(tool);
  checkParameters(tool.parameters);
  if (tool.auth) checkAuth(tool.auth, allowedHosts);
  checkHeaders(tool);
  for (const [at, pointer] of tool.result?.keep.entries() ?? []) checkPointer(`result.keep.${at}`, pointer);
  checkAssignments(tool.assignments);
}

function checkPlaces({ method, url, parameters }: HttpTool): void {
  const inUrl = pathParametersOf(url);
  const hasBody = method !== ToolMethod.TOOL_METHOD_GET && method !== ToolMethod.TOOL_METHOD_HEAD;
  for (const [at, parameter] of parameters.entries()) {
    const path = `parameters.${at}`;
    if (parameter.in === ParameterPlace.PARAMETER_PLACE_UNSPECIFIED)
      throw invalid(`${path}.in`, `${path}.in is required: path, query, header or body`);
    if (parameter.in === PATH) checkPathParameter(path, parameter, inUrl);
    if (parameter.in === BODY && !hasBody)
      throw invalid(`${path}.in`, `${path}.in must not be body: a GET or HEAD request has none`);
    if (parameter.in === HEADER) checkHeaderName(`${path}.name`, parameter.name);
  }
  const missing = inUrl.find(
    (name) => !parameters.some(({ name: given, in: place }) => place === PATH && given === name),
  );
  if (missing !== undefined) throw invalid("url", `url has {${missing}}, but no path parameter has this name`);
  checkOnce(parameters, ({ name, in: place }) => {
    const known = nameOf(PARAMETER_PLACES, place);
    return `${known} ${place === HEADER ? name.toLowerCase() : name}`;
  });
}

function checkPathParameter(path: string, { name, required }: ToolParameter, inUrl: readonly string[]): void {
  if (!inUrl.includes(name)) throw invalid(`${path}.name`, `${path}.name must stand in url, as {${name}}`);
  if (!required) throw invalid(`${path}.required`, `${path}.required must be true: a path has no gaps`);
}

/** Each header has one source. */
function checkHeaders({ headers, parameters, auth }: HttpTool): void {
  checkOwnHeaders(headers, auth);
  const taken = new Set([...headers.map(({ name }) => name.toLowerCase()), authHeaderOf(auth)]);
  for (const [at, { name, in: place }] of parameters.entries()) {
    if (place !== HEADER || !taken.has(name.toLowerCase())) continue;
    throw invalid(`parameters.${at}.name`, `parameters.${at}.name must not be repeated: ${name} is set elsewhere`);
  }
}

/** @throws ServiceError invalid at the first header that is reserved, given twice or no text for a header */
export function checkOwnHeaders(headers: readonly ToolHeader[], auth: ToolAuth | undefined): void {
  const taken = new Set([authHeaderOf(auth)]);
  for (const { name, value } of headers) {
    const path = `headers.${name}`;
    checkHeaderName(path, name);
    if (value?.$case === "text") checkHeaderValue(path, value.value);
    if (taken.has(name.toLowerCase())) throw invalid(path, `${path} must not be repeated`);
    taken.add(name.toLowerCase());
  }
}

function authHeaderOf(auth: ToolAuth | undefined): string | null {
  if (!auth?.kind) return null;
  return auth.kind.$case === "header" ? auth.kind.value.name.toLowerCase() : "authorization";
}

/** @throws ServiceError invalid */
export function checkAuth({ kind }: ToolAuth, allowedHosts: AllowList): void {
  if (kind?.$case === "header") checkHeaderName("auth.name", kind.value.name);
  if (kind?.$case === "basic" && /[:\p{Cc}]/u.test(kind.value.username))
    throw invalid("auth.username", "auth.username must not have a colon or control characters");
  if (kind?.$case === "oauth2ClientCredentials") checkAddress("auth.token_url", kind.value.tokenUrl, allowedHosts);
}

function checkPointer(path: string, pointer: string): void {
  if (!POINTER.test(pointer))
    throw invalid(path, `${path} must be a JSON pointer, such as /items/0/name, or empty for the whole answer`);
}

function checkAssignments(assignments: readonly ToolAssignment[]): void {
  const variables = assignments.map(({ variable }) => normalizeVariableName(variable));
  for (const [at, { variable, pointer }] of assignments.entries()) {
    const path = `assignments.${at}`;
    checkVariable(`${path}.variable`, variable);
    if (isSystemVariable(variables[at] ?? ""))
      throw invalid(`${path}.variable`, `${path}.variable must not begin with system_: Parley sets these variables`);
    if (variables.indexOf(variables[at] ?? "") !== at)
      throw invalid(`${path}.variable`, `${path}.variable must not be repeated: ${variables[at]}`);
    checkPointer(`${path}.pointer`, pointer);
  }
}
