import type { McpTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { pinned } from "@parley/shared/domain/mcp-definitions";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";

/** More than the conversation service waits for the server. */
const LIST_MS = 25_000;

type Kind = NonNullable<Tool["kind"]>;

/** What decides which tools of a server an MCP tool has; another value of one has the server asked again. */
const ASKED_WITH = ["url", "headers", "auth", "tools"] as const;

/**
 * The kind of a tool with what its MCP server offers now, all of it on; other kinds as they are.
 * @throws ServiceError invalid when the server cannot be asked
 */
export async function withContents(
  { conversations }: Pick<AgentContext, "conversations">,
  ownerId: string,
  { name, kind }: { name: string; kind: Kind },
  origin: CallOrigin,
): Promise<Kind> {
  if (kind.$case !== "mcp") return kind;
  const asked = conversations.listMcpTools({ ownerId, mcp: kind.value }, { origin, timeoutMs: LIST_MS });
  const { tools } = await asked.catch((error) => {
    if (!(error instanceof ServiceError) || error.kind !== "condition") throw error;
    throw invalid("url", `url cannot be used: ${error.message}`);
  });
  return { $case: "mcp", value: { ...kind.value, ...pinned(name, kind.value, tools) } };
}

/** Whether a change of an MCP tool has its server asked again. */
export function asksAgain(before: { name: string; mcp: McpTool }, after: { name: string; mcp: McpTool }): boolean {
  const textOf = ({ name, mcp }: { name: string; mcp: McpTool }) =>
    JSON.stringify([name, ...ASKED_WITH.map((field) => mcp[field] ?? null)]);
  return textOf(before) !== textOf(after);
}
