import type {
  ConversationServiceService,
  TriedRequest,
  TryToolRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { collectValues } from "@parley/shared/domain/variables/values";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { refusedArgument } from "../tools/custom-tool.ts";
import { callHttpTool } from "../tools/http/call.ts";
import type { HttpRequest } from "../tools/http/request.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["tryTool"]>;

/** Calls an HTTP tool as a conversation would, for the owner who edits it. */
export function tryTool(ctx: ConversationContext): Handler {
  return async ({ ownerId, toolId, arguments: args = {}, variables: given = {} }: TryToolRequest, { signal }) => {
    const tool = await ctx.getTool(ownerId, toolId);
    if (!tool) throw notFound("Tool");
    if (tool.kind?.$case !== "http") {
      throw new ServiceError(
        "condition",
        "Only HTTP tools can be tried here: the client of a conversation makes the calls of a client tool",
      );
    }
    const http = tool.kind.value;
    const variables = collectValues({ dynamic_variables: given });
    const startedAt = performance.now();
    const refused = refusedArgument(http.parameters, args, variables);
    if (refused !== null) throw invalid("arguments", refused);
    const idempotencyKey = `try:${crypto.randomUUID()}`;
    const call = { ownerId, tool, http, idempotencyKey, conversationId: null, args, variables, signal };
    const outcome = await callHttpTool(ctx.httpTools, call);
    return {
      request: outcome.request ? shown(outcome.request) : undefined,
      status: outcome.status ?? undefined,
      answer: outcome.answer ?? undefined,
      durationMs: Math.round(performance.now() - startedAt),
      forModel: outcome.forModel,
      isError: outcome.isError,
      assignments: outcome.assignments,
    };
  };
}

function shown({ method, url, headers, body }: HttpRequest): TriedRequest {
  return { method, url, headers, body: body === "" ? undefined : body };
}
