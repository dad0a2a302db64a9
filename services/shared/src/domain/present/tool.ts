import type { ImportToolsResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type {
  HttpTool,
  McpTool,
  SigningSecret,
  Tool,
  ToolAuth,
  ToolHeader,
  ToolParameter,
  ToolSpeech,
} from "@parley/proto/parley/agent/v1/tool.ts";
import type { TriedRequest, TryToolResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { nameOf } from "../api-names.ts";
import {
  MCP_STATES,
  ON_TOOL_CHANGES,
  PARAMETER_PLACES,
  TOOL_INTERRUPTIONS,
  TOOL_METHODS,
  TOOL_RUNS,
} from "../tools.ts";
import { isoTime } from "./time.ts";

/** A tool as the API shows it (docs/api-reference.md#tools). */
export function presentTool(tool: Tool) {
  return {
    id: tool.toolId,
    name: tool.name,
    description: tool.description,
    type: tool.kind?.$case,
    ...presentKind(tool.kind),
    timeout_ms: tool.timeoutMs,
    speech: presentSpeech(tool.speech),
    interruption: nameOf(TOOL_INTERRUPTIONS, tool.interruption),
    run: nameOf(TOOL_RUNS, tool.run),
    created_at: isoTime(tool.createdAt),
    updated_at: isoTime(tool.updatedAt),
    created_by: tool.createdBy || null,
  };
}

/** The same with its newest signing secret, if it has one. */
export function presentNewTool(tool: Tool) {
  const [newest] = tool.signingSecrets;
  return { ...presentTool(tool), ...(newest && { signing_secret: newest.secret }) };
}

/** The same after a rotation. */
export function presentRotatedTool(tool: Tool) {
  const [, old]: (SigningSecret | undefined)[] = tool.signingSecrets;
  return { ...presentNewTool(tool), old_secret_valid_until: isoTime(old?.validUntil) };
}

/** Tools that are not stored, as POST takes them, without the fields that have defaults. */
export function presentImported({ tools, problems }: ImportToolsResponse) {
  return {
    tools: tools.flatMap(({ name, description, kind }) => {
      if (kind?.$case !== "http") return [];
      const { method, url, headers, auth, parameters } = presentHttp(kind.value);
      return [{ name, description, type: "http", method, url, headers, auth, parameters }];
    }),
    problems: problems.map(({ operation, problem }) => ({ operation, problem })),
  };
}

/** What came of trying a tool. */
export function presentTried({ request, status, answer, durationMs, forModel, isError, assignments }: TryToolResponse) {
  return {
    request: request ? presentTriedRequest(request) : null,
    status: status ?? null,
    answer: answer ?? null,
    duration_ms: durationMs,
    for_model: forModel,
    is_error: isError,
    assignments: assignments ?? {},
  };
}

export function presentTriedRequest({ method, url, headers, body }: TriedRequest) {
  return { method, url, headers, body: body ?? null };
}

function presentKind(kind: Tool["kind"]): object {
  switch (kind?.$case) {
    case "http":
      return presentHttp(kind.value);
    case "client":
      return { parameters: kind.value.parameters.map(presentParameter), wait: kind.value.wait ?? true };
    case "mcp":
      return presentMcp(kind.value);
    default:
      return {};
  }
}

function presentHttp(http: HttpTool) {
  return {
    method: nameOf(TOOL_METHODS, http.method),
    url: http.url,
    headers: presentHeaders(http.headers),
    auth: presentAuth(http.auth),
    parameters: http.parameters.map(presentParameter),
    retries: http.retries ?? 0,
    idempotent: http.idempotent,
    result: http.result ? { keep: http.result.keep, hide: http.result.hide } : null,
    assignments: http.assignments.map(({ variable, pointer }) => ({ variable, pointer })),
  };
}

function presentMcp({ url, headers, auth, tools, onChange, definitions, problems }: McpTool) {
  return {
    url,
    headers: presentHeaders(headers),
    auth: presentAuth(auth),
    tools: tools?.names ?? null,
    on_change: nameOf(ON_TOOL_CHANGES, onChange),
    mcp_tools: definitions.map(({ name, description, inputSchema, state }) => ({
      name,
      description,
      input_schema: inputSchema ?? {},
      state: nameOf(MCP_STATES, state),
    })),
    problems: problems.map(({ name, problem }) => ({ name, problem })),
  };
}

function presentParameter({ name, in: place, required, source, allowedFrom }: ToolParameter) {
  const where = nameOf(PARAMETER_PLACES, place);
  return {
    name,
    ...(where !== undefined && { in: where }),
    required,
    ...(source && { [source.$case]: source.value }),
    ...(allowedFrom !== undefined && { allowed_from: allowedFrom }),
  };
}

export function presentHeaders(headers: readonly ToolHeader[]) {
  const values = headers.map(({ name, value }) => [
    name,
    value?.$case === "secret" ? { secret: value.value } : (value?.value ?? ""),
  ]);
  return Object.fromEntries(values);
}

function presentAuth(auth: ToolAuth | undefined) {
  switch (auth?.kind?.$case) {
    case "bearer":
      return { type: "bearer", secret: auth.kind.value.secret };
    case "basic":
      return { type: "basic", username: auth.kind.value.username, secret: auth.kind.value.secret };
    case "header":
      return { type: "header", name: auth.kind.value.name, secret: auth.kind.value.secret };
    case "oauth2ClientCredentials": {
      const { tokenUrl, clientId, secret, scope } = auth.kind.value;
      const fields = { token_url: tokenUrl, client_id: clientId, secret };
      return { type: "oauth2_client_credentials", ...fields, ...(scope !== undefined && { scope }) };
    }
    default:
      return null;
  }
}

function presentSpeech(speech: ToolSpeech | undefined) {
  return {
    before: speech?.before || "auto",
    delayed: (speech?.delayed ?? []).map(({ afterMs, text }) => ({ after_ms: afterMs, text })),
    ...(speech?.sound !== undefined && { sound: speech.sound }),
  };
}
