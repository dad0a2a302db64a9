import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  type Tool as LibraryTool,
  type ListedMcpTool,
  type McpDefinition,
  McpState,
  type McpTool,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { isSame, relisted } from "@parley/shared/domain/mcp-definitions";
import { rulesOf } from "../custom-tool.ts";
import { Refused } from "../http/values.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";
import { McpFailure } from "./connection.ts";
import { listTools } from "./listed-tools.ts";
import { textOfResult } from "./result.ts";
import { type McpPlace, type McpSession, type McpSessions, tellable } from "./sessions.ts";

/** Tells the library what the server of a tool offers now. */
type ReportMcpTools = (ownerId: string, toolId: string, tools: readonly ListedMcpTool[]) => Promise<unknown>;

/**
 * The tools of the owner's MCP servers, on every channel. The model is offered what was pinned when the tool was saved, so no turn waits
 * for a server before a call.
 */
export function mcpTools(
  sessions: McpSessions,
  report: ReportMcpTools,
): (agent: Pick<AgentRuntime, "customTools">) => Tool[] {
  return (agent) =>
    agent.customTools.flatMap((tool) => {
      if (tool.kind?.$case !== "mcp") return [];
      const mcp = tool.kind.value;
      const on = mcp.definitions.filter(({ state }) => state === McpState.MCP_STATE_ON);
      return on.map((definition) => mcpTool({ sessions, report }, tool, mcp, definition));
    });
}

interface Parts {
  sessions: McpSessions;
  report: ReportMcpTools;
}

function mcpTool(
  parts: Parts,
  tool: LibraryTool,
  mcp: McpTool,
  { name, description, inputSchema }: McpDefinition,
): Tool {
  return {
    kind: "mcp",
    definition: { name: `${tool.name}__${name}`, description, inputSchema: inputSchema ?? { type: "object" } },
    // The protocol has no key that would make a repeated call safe.
    rules: rulesOf(tool, false),
    async run({ input }, context) {
      const { ownerId, conversationId, variables } = context;
      const place = { ownerId, conversationId, toolId: tool.toolId, variables };
      try {
        return await callMcpTool(parts, { place, tool, mcp, name, args: input ?? {} }, context);
      } catch (error) {
        context.signal.throwIfAborted();
        if (error instanceof McpFailure || error instanceof Refused) return failed(withStop(error.message));
        throw error;
      }
    },
  };
}

interface McpCall {
  place: McpPlace;
  tool: LibraryTool;
  mcp: McpTool;
  /** As the server names the tool. */
  name: string;
  args: Record<string, unknown>;
}

/** Makes a call once. A session that the server forgot is opened again once, because a forgotten one does nothing. */
async function callMcpTool(
  parts: Parts,
  call: McpCall,
  context: Pick<ToolContext, "signal" | "log">,
): Promise<ToolOutcome> {
  const open = () => parts.sessions.open(call.place, call.mcp);
  const session = await open();
  try {
    return await callIn(session, parts, call, context);
  } catch (error) {
    if (!(error instanceof McpFailure) || !error.isForgotten) throw error;
    parts.sessions.drop(call.place, session);
    return callIn(await open(), parts, call, context);
  }
}

async function callIn(
  session: McpSession,
  { report }: Parts,
  { place, tool, mcp, name, args }: McpCall,
  { signal, log }: Pick<ToolContext, "signal" | "log">,
): Promise<ToolOutcome> {
  const { connection, mask } = session;
  try {
    const listed = await listTools(session, signal);
    const contents = relisted(tool.name, mcp, listed);
    if (!isSame(contents, mcp)) {
      await report(place.ownerId, place.toolId, listed).catch((err) =>
        log.warn({ err, tool_id: place.toolId }, "changed tools of an MCP server could not be reported"),
      );
    }
    const now = contents.definitions.find((definition) => definition.name === name);
    if (now?.state !== McpState.MCP_STATE_ON) {
      return failed("The server changed this tool or no longer has it. It is off until its owner accepts the change.");
    }
    const result = await connection.call(name, args, signal, tool.timeoutMs);
    return { result: textOfResult(result, mask), isError: result.isError === true };
  } catch (error) {
    throw tellable(error, mask);
  }
}

function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
