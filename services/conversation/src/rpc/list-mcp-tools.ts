import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { Refused } from "../tools/http/values.ts";
import { McpFailure } from "../tools/mcp/connection.ts";
import { tellable } from "../tools/mcp/sessions.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["listMcpTools"]>;

/** Lists what an MCP server offers, for the agent service, which keeps it with a tool. */
export function listMcpTools(ctx: ConversationContext): Handler {
  return async ({ ownerId, mcp }, { signal }) => {
    if (!mcp) throw invalid("mcp", "mcp is required");
    const place = { ownerId, conversationId: `list:${crypto.randomUUID()}`, toolId: "", variables: {} };
    try {
      const { connection, mask } = await ctx.mcpSessions.open(place, mcp);
      const tools = await connection.listTools(signal).catch((error) => {
        throw tellable(error, mask);
      });
      return { tools };
    } catch (error) {
      if (error instanceof McpFailure || error instanceof Refused) throw new ServiceError("condition", error.message);
      throw error;
    } finally {
      ctx.mcpSessions.drop(place);
    }
  };
}
