import type { HttpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import type {
  TriedRequest,
  TryToolRequest,
  TryToolResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext, Handler } from "../context.ts";
import { sampleValues } from "../start/sample.ts";
import { argumentsFault } from "../tools/arguments.ts";
import { definitionOf, refusedArgument } from "../tools/custom-tool.ts";
import { callHttpTool } from "../tools/http/call.ts";
import { toldOf } from "../tools/http/http-tools.ts";
import type { HttpRequest } from "../tools/http/request.ts";
import { mcpTools } from "../tools/mcp/mcp-tools.ts";

type Tried = Omit<TryToolResponse, "durationMs">;

/** Calls a tool as a conversation would, for the owner who edits it. */
export function tryTool(ctx: ConversationContext): Handler<"tryTool"> {
  return async (request, call) => {
    const tool = await ctx.agents.getTool(request.ownerId, request.toolId);
    if (!tool) throw notFound("Tool");
    const startedAt = performance.now();
    const tried = await tryKind(ctx, tool, request, call);
    return { ...tried, durationMs: Math.round(performance.now() - startedAt) };
  };
}

function tryKind(ctx: ConversationContext, tool: Tool, request: TryToolRequest, call: Call): Promise<Tried> {
  switch (tool.kind?.$case) {
    case "http":
      return tryHttp(ctx, tool, tool.kind.value, request, call);
    case "mcp":
      return tryMcp(ctx, tool, request, call);
    default:
      throw new ServiceError(
        "condition",
        "A client tool cannot be tried here: the client of a conversation makes its calls",
      );
  }
}

async function tryHttp(
  ctx: ConversationContext,
  tool: Tool,
  http: HttpTool,
  { ownerId, arguments: args = {}, variables: given = {} }: TryToolRequest,
  { signal }: Call,
): Promise<Tried> {
  const variables = sampleValues(ctx.clock, given);
  const input = { name: tool.name, json: JSON.stringify(args), input: args };
  const fault =
    argumentsFault(input, definitionOf(tool, http.parameters)) ?? refusedArgument(http.parameters, args, variables);
  if (fault !== null) throw invalid("arguments", fault);
  const idempotencyKey = `try:${crypto.randomUUID()}`;
  const call = { ownerId, tool, http, idempotencyKey, conversationId: null, args, variables, signal };
  const outcome = await callHttpTool(ctx.httpTools, call);
  return {
    request: outcome.request ? shownRequest(outcome.request) : undefined,
    status: outcome.status ?? undefined,
    answer: outcome.answer ?? undefined,
    forModel: toldOf(outcome),
    isError: outcome.isError,
    assignments: outcome.assignments,
  };
}

async function tryMcp(
  ctx: ConversationContext,
  tool: Tool,
  { ownerId, arguments: args = {}, variables: given = {}, mcpTool = "" }: TryToolRequest,
  { signal, log }: Call,
): Promise<Tried> {
  const offered = mcpTools(ctx.mcpSessions, ctx.agents.reportMcpTools)({ customTools: [tool] });
  const chosen = offered.find(({ definition }) => definition.name === `${tool.name}__${mcpTool}`);
  if (!chosen) {
    const names = offered.map(({ definition }) => definition.name.slice(tool.name.length + 2)).join(", ");
    throw invalid("tool", `tool must be one of the server's tools that are on: ${names || "none is"}`);
  }
  const input = { name: chosen.definition.name, json: JSON.stringify(args), input: args };
  const fault = argumentsFault(input, chosen.definition);
  if (fault !== null) throw invalid("arguments", fault);
  const conversationId = `try:${crypto.randomUUID()}`;
  const variables = sampleValues(ctx.clock, given);
  const place = { ownerId, conversationId, toolCallId: "try", channel: "chat" as const, variables, signal, log };
  const run = async () => chosen.run(input, { ...place, attempted: () => {}, clock: ctx.clock });
  const { result, isError } = await run().finally(() =>
    ctx.mcpSessions.drop({ ownerId, conversationId, toolId: tool.toolId, variables }),
  );
  return { request: undefined, status: undefined, answer: undefined, forModel: result, isError, assignments: {} };
}

export function shownRequest({ method, url, headers, body }: HttpRequest): TriedRequest {
  return { method, url, headers, body: body === "" ? undefined : body };
}
