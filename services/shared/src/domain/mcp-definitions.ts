import { createHash } from "node:crypto";
import {
  type ListedMcpTool,
  type McpDefinition,
  McpState,
  type McpTool,
  OnToolChange,
} from "@parley/proto/parley/agent/v1/tool.ts";

const { MCP_STATE_CHANGED, MCP_STATE_GONE, MCP_STATE_NEW, MCP_STATE_ON } = McpState;

/** Pins what a server offers: everything that is allowed is on (docs/tools.md#mcp). */
export function pinned(mcp: Pick<McpTool, "tools">, listed: readonly ListedMcpTool[]): McpDefinition[] {
  return allowed(mcp, listed).map((tool) => definitionOf(tool, MCP_STATE_ON));
}

/**
 * The definitions of an MCP tool after a look at what its server offers now. The pinned text of a tool stays; one that the server
 * changed is off, and so is one that it added. One that it offers again as it was pinned is on again.
 */
export function relisted(mcp: McpTool, listed: readonly ListedMcpTool[]): McpDefinition[] {
  const offered = new Map(allowed(mcp, listed).map((tool) => [tool.name, tool]));
  const known = mcp.definitions.flatMap((definition) => {
    const tool = offered.get(definition.name);
    if (definition.state === MCP_STATE_NEW) return tool ? [definitionOf(tool, MCP_STATE_NEW)] : [];
    if (!tool) return [{ ...definition, state: MCP_STATE_GONE }];
    const state = isAsPinned(mcp.onChange, definition, tool) ? MCP_STATE_ON : MCP_STATE_CHANGED;
    return [{ ...definition, state }];
  });
  const names = new Set(known.map(({ name }) => name));
  const added = [...offered.values()].filter(({ name }) => !names.has(name));
  return [...known, ...added.map((tool) => definitionOf(tool, MCP_STATE_NEW))];
}

/** Whether two lists of definitions say the same. */
export function isSameList(some: readonly McpDefinition[], others: readonly McpDefinition[]): boolean {
  const textOf = (definitions: readonly McpDefinition[]) =>
    JSON.stringify(definitions.map(({ name, definitionHash, state }) => [name, definitionHash, state]).toSorted());
  return textOf(some) === textOf(others);
}

function allowed({ tools }: Pick<McpTool, "tools">, listed: readonly ListedMcpTool[]): readonly ListedMcpTool[] {
  return tools === undefined ? listed : listed.filter(({ name }) => tools.names.includes(name));
}

function definitionOf({ name, description, inputSchema = {} }: ListedMcpTool, state: McpState): McpDefinition {
  return {
    name,
    description,
    inputSchema,
    schemaHash: hashOf(inputSchema),
    definitionHash: hashOf({ description, inputSchema }),
    state,
  };
}

function isAsPinned(onChange: OnToolChange, pin: McpDefinition, tool: ListedMcpTool): boolean {
  const now = definitionOf(tool, MCP_STATE_ON);
  return onChange === OnToolChange.ON_TOOL_CHANGE_DISABLE
    ? now.definitionHash === pin.definitionHash
    : now.schemaHash === pin.schemaHash;
}

/** SHA-256 of a JSON value, whatever the order of its fields. */
function hashOf(value: unknown): string {
  const inOrder = (_name: string, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return createHash("sha256").update(JSON.stringify(value, inOrder)).digest("hex");
}
