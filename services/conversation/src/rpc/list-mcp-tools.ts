import { invalid, ServiceError } from "@parley/shared/errors";
import type { ConversationContext, Handler } from "../context.ts";
import { Refused } from "../tools/http/values.ts";
import { McpFailure } from "../tools/mcp/connection.ts";
import { listTools } from "../tools/mcp/listed-tools.ts";

/** To connect and to list, together. */
const WITHIN_MS = 20_000;

/** Lists what an MCP server offers, for the agent service, which keeps it with a tool. */
export function listMcpTools(ctx: ConversationContext): Handler<"listMcpTools"> {
  return async ({ ownerId, mcp }, { signal }) => {
    if (!mcp) throw invalid("mcp", "mcp is required");
    const place = { ownerId, conversationId: `list:${crypto.randomUUID()}`, toolId: "", variables: {} };
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new McpFailure("The server did not answer in time")), WITHIN_MS);
    const list = async () => listTools(await ctx.mcpSessions.open(place, mcp), signal);
    try {
      return { tools: await Promise.race([list(), late.promise]) };
    } catch (error) {
      if (error instanceof McpFailure || error instanceof Refused) throw new ServiceError("condition", error.message);
      throw error;
    } finally {
      clearTimeout(timer);
      ctx.mcpSessions.drop(place);
    }
  };
}
