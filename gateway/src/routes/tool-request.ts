import type { ImportToolsRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import {
  ClientTool,
  HttpTool,
  McpTool,
  Tool,
  type ToolAuth,
  type ToolHeader,
  type ToolParameter,
  ToolSpeech,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { numberOf } from "@parley/shared/domain/api-names";
import {
  ON_TOOL_CHANGES,
  PARAMETER_PLACES,
  TOOL_INTERRUPTIONS,
  TOOL_METHODS,
  TOOL_RUNS,
  type TOOL_TYPES,
} from "@parley/shared/domain/tools";
import { invalid } from "@parley/shared/errors";
import type { AuthBody, HeadersBody, ParameterBody } from "../schemas/tools/parts.ts";
import { type ImportToolsBody, toolFields, type UpdateToolBody } from "../schemas/tools/requests.ts";

type TypeName = keyof typeof TOOL_TYPES;
type Field = keyof typeof toolFields;

/** The fields of the API that a type of tool has beside those of every tool, by their names in the protocol. */
const FIELDS: Readonly<Record<TypeName, Readonly<Partial<Record<Field, string>>>>> = {
  http: {
    method: "method",
    url: "url",
    headers: "headers",
    auth: "auth",
    parameters: "parameters",
    retries: "retries",
    idempotent: "idempotent",
    result: "result",
    assignments: "assignments",
  },
  client: { parameters: "parameters", wait: "wait" },
  mcp: { url: "url", headers: "headers", auth: "auth", tools: "tools", on_change: "onChange" },
};
const COMMON = {
  name: "name",
  description: "description",
  timeout_ms: "timeoutMs",
  speech: "speech",
  interruption: "interruption",
  run: "run",
} as const;
const REQUIRED: Readonly<Record<TypeName, readonly Field[]>> = { http: ["method", "url"], client: [], mcp: ["url"] };

/** @throws ServiceError invalid for a field that this type of tool needs and lacks, or does not have */
export function newToolOf(type: TypeName, body: UpdateToolBody): Tool {
  const missing = REQUIRED[type].find((field) => body[field] == null);
  if (missing) throw invalid(missing, `${missing} is required`);
  return toolOf(type, body);
}

/**
 * The values of a change, and the names of the fields that get them.
 * @throws ServiceError invalid for a field that this type of tool does not have, or cannot be without
 */
export function toolChangeOf(type: TypeName, body: UpdateToolBody): { tool: Tool; fields: string[] } {
  const cleared = REQUIRED[type].find((field) => body[field] === null);
  if (cleared) throw invalid(cleared, `${cleared} is required`);
  const names = Object.entries({ ...COMMON, ...FIELDS[type] });
  const fields = names.filter(([field]) => body[field as Field] !== undefined).map(([, name]) => name);
  return { tool: toolOf(type, body), fields };
}

/** What to import. @throws ServiceError invalid unless there is exactly one source */
export function sourceOf({ url, document, curl }: ImportToolsBody): NonNullable<ImportToolsRequest["source"]> {
  const given = [
    ...(url == null ? [] : [{ $case: "url" as const, value: url }]),
    ...(document == null ? [] : [{ $case: "document" as const, value: document }]),
    ...(curl == null ? [] : [{ $case: "curl" as const, value: curl }]),
  ];
  const [source] = given;
  if (!source || given.length > 1) throw invalid("url", "Give exactly one of url, document and curl");
  return source;
}

function toolOf(type: TypeName, body: UpdateToolBody): Tool {
  const known = Object.keys(FIELDS[type]);
  const shared = Object.keys(COMMON);
  const foreign = (Object.keys(toolFields) as Field[]).find(
    (field) => body[field] != null && !known.includes(field) && !shared.includes(field),
  );
  if (foreign) throw invalid(foreign, `${foreign} is not a field of ${type} tools: leave it out`);
  const { speech } = body;
  return {
    ...Tool.fromPartial({}),
    name: body.name ?? "",
    description: body.description ?? "",
    timeoutMs: body.timeout_ms ?? 0,
    speech: speech
      ? ToolSpeech.fromPartial({
          before: speech.before ?? "auto",
          delayed: (speech.delayed ?? []).map(({ after_ms, text }) => ({ afterMs: after_ms, text })),
          ...(speech.sound != null && { sound: speech.sound }),
        })
      : undefined,
    interruption: numberOf(TOOL_INTERRUPTIONS, body.interruption ?? undefined),
    run: numberOf(TOOL_RUNS, body.run ?? undefined),
    kind: kindOf(type, body),
  };
}

function kindOf(type: TypeName, body: UpdateToolBody): Tool["kind"] {
  const parameters = (body.parameters ?? []).map((parameter, at) => parameterOf(`parameters.${at}`, parameter));
  const headers = headersOf(body.headers ?? {});
  const auth = body.auth ? authOf(body.auth) : undefined;
  switch (type) {
    case "http": {
      const { result } = body;
      const value: HttpTool = {
        ...HttpTool.fromPartial({}),
        method: numberOf(TOOL_METHODS, body.method ?? undefined),
        url: body.url ?? "",
        headers,
        parameters,
        auth,
        retries: body.retries ?? undefined,
        idempotent: body.idempotent ?? false,
        result: result ? { keep: result.keep ?? [], hide: result.hide ?? false } : undefined,
        assignments: body.assignments ?? [],
      };
      return { $case: "http", value };
    }
    case "client":
      return {
        $case: "client",
        value: { ...ClientTool.fromPartial({}), parameters, wait: body.wait ?? undefined },
      };
    case "mcp": {
      const tools = body.tools ? { names: body.tools } : undefined;
      const onChange = numberOf(ON_TOOL_CHANGES, body.on_change ?? undefined);
      const value = { ...McpTool.fromPartial({}), url: body.url ?? "", headers, auth, tools, onChange };
      return { $case: "mcp", value };
    }
  }
}

function parameterOf(path: string, body: ParameterBody): ToolParameter {
  const { name, in: place, schema, variable, secret, allowed_from: allowedFrom } = body;
  const sources: NonNullable<ToolParameter["source"]>[] = [
    ...(schema != null ? [{ $case: "schema" as const, value: schema }] : []),
    ...(variable != null ? [{ $case: "variable" as const, value: variable }] : []),
    ...(Object.hasOwn(body, "constant") ? [{ $case: "constant" as const, value: body.constant }] : []),
    ...(secret != null ? [{ $case: "secret" as const, value: secret }] : []),
  ];
  const [source] = sources;
  if (!source || sources.length > 1)
    throw invalid(path, `${path} must have exactly one of schema, variable, constant and secret`);
  return {
    name,
    in: numberOf(PARAMETER_PLACES, place ?? undefined),
    required: body.required ?? place === "path",
    source,
    allowedFrom: allowedFrom ?? undefined,
  };
}

export function headersOf(body: HeadersBody): ToolHeader[] {
  return Object.entries(body).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? { $case: "text", value } : { $case: "secret", value: value.secret },
  }));
}

function authOf(body: AuthBody): ToolAuth {
  switch (body.type) {
    case "bearer":
      return { kind: { $case: "bearer", value: { secret: body.secret } } };
    case "basic":
      return { kind: { $case: "basic", value: { username: body.username, secret: body.secret } } };
    case "header":
      return { kind: { $case: "header", value: { name: body.name, secret: body.secret } } };
    case "oauth2_client_credentials": {
      const { token_url: tokenUrl, client_id: clientId, secret, scope } = body;
      return {
        kind: { $case: "oauth2ClientCredentials", value: { tokenUrl, clientId, secret, scope: scope ?? undefined } },
      };
    }
  }
}
