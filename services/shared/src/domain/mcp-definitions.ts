import {
  type ListedMcpTool,
  type McpDefinition,
  type McpProblem,
  McpState,
  type McpTool,
  OnToolChange,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { jsonHash } from "../json/json-hash.ts";

const { MCP_STATE_CHANGED, MCP_STATE_GONE, MCP_STATE_NEW, MCP_STATE_ON } = McpState;

/** What an MCP tool has of its server's tools. */
export type McpContents = Pick<McpTool, "definitions" | "problems">;

/** Limits for one tool of a server, as for an owner's own schemas, and for how many there may be. */
export const SCHEMA_BYTES_MAX = 16 * 1024;
export const SCHEMA_DEPTH_MAX = 16;
const DESCRIPTION_BYTES_MAX = 4 * 1024;
const TOOLS_MAX = 128;
const NAME_LENGTH_MAX = 64;

/** Pins what a server offers: everything that is allowed and fits is on (docs/tools.md#mcp). @param name that of the MCP tool */
export function pinned(name: string, mcp: Pick<McpTool, "tools">, listed: readonly ListedMcpTool[]): McpContents {
  const { tools, problems } = fitting(name, mcp, listed);
  return { definitions: tools.map((tool) => definitionOf(tool, MCP_STATE_ON)), problems };
}

/**
 * What an MCP tool has after a look at what its server offers now. The pinned text of a tool stays; one that the server changed is
 * off, and so is one that it added. One that it offers again as it was pinned is on again.
 */
export function relisted(name: string, mcp: McpTool, listed: readonly ListedMcpTool[]): McpContents {
  const { tools, problems } = fitting(name, mcp, listed);
  const offered = new Map(tools.map((tool) => [tool.name, tool]));
  const known = mcp.definitions.flatMap((definition) => {
    const tool = offered.get(definition.name);
    if (definition.state === MCP_STATE_NEW) return tool ? [definitionOf(tool, MCP_STATE_NEW)] : [];
    if (!tool) return [{ ...definition, state: MCP_STATE_GONE }];
    const state = isAsPinned(mcp.onChange, definition, tool) ? MCP_STATE_ON : MCP_STATE_CHANGED;
    return [{ ...definition, state }];
  });
  const names = new Set(known.map((definition) => definition.name));
  const added = tools.filter((tool) => !names.has(tool.name));
  return { definitions: [...known, ...added.map((tool) => definitionOf(tool, MCP_STATE_NEW))], problems };
}

/** Whether two looks at a server found the same. */
export function isSame(some: McpContents, other: McpContents): boolean {
  const textOf = ({ definitions, problems }: McpContents) =>
    JSON.stringify([
      definitions.map(({ name, definitionHash, state }) => [name, definitionHash, state]).toSorted(),
      problems.map(({ name, problem }) => [name, problem]).toSorted(),
    ]);
  return textOf(some) === textOf(other);
}

/** The allowed tools of a server that models can be offered, and why others cannot. */
function fitting(name: string, { tools: allowed }: Pick<McpTool, "tools">, listed: readonly ListedMcpTool[]) {
  const fit: ListedMcpTool[] = [];
  const names = new Set<string>();
  const problems: McpProblem[] = [];
  const tell = (tool: string, problem: string) => problems.push({ name: tool, problem });
  for (const tool of listed) {
    if (allowed !== undefined && !allowed.names.includes(tool.name)) continue;
    const problem = names.has(tool.name)
      ? "the server has another tool of this name"
      : fit.length >= TOOLS_MAX
        ? `the server has more than ${TOOLS_MAX} tools`
        : problemOf(name, tool);
    names.add(tool.name);
    if (problem === null) fit.push(tool);
    else tell(tool.name.slice(0, NAME_LENGTH_MAX), problem);
  }
  const missing = allowed?.names.filter((wanted) => !listed.some((tool) => tool.name === wanted)) ?? [];
  for (const wanted of missing) tell(wanted, "the server has no tool of this name");
  return { tools: fit, problems: problems.slice(0, TOOLS_MAX) };
}

function problemOf(name: string, { name: own, description, inputSchema = {} }: ListedMcpTool): string | null {
  if (!/^[a-zA-Z0-9_-]+$/.test(own)) return "its name has other characters than letters, digits, _ and -";
  if (`${name}__${own}`.length > NAME_LENGTH_MAX) {
    return `its name is longer than ${NAME_LENGTH_MAX} characters with ${name}__ before it`;
  }
  if (Buffer.byteLength(description) > DESCRIPTION_BYTES_MAX) {
    return `its description is longer than ${DESCRIPTION_BYTES_MAX} bytes`;
  }
  if (Buffer.byteLength(JSON.stringify(inputSchema)) > SCHEMA_BYTES_MAX) {
    return `its schema is longer than ${SCHEMA_BYTES_MAX} bytes`;
  }
  return depthOf(inputSchema) > SCHEMA_DEPTH_MAX ? `its schema has more than ${SCHEMA_DEPTH_MAX} levels` : null;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function definitionOf({ name, description, inputSchema = {} }: ListedMcpTool, state: McpState): McpDefinition {
  return {
    name,
    description,
    inputSchema,
    schemaHash: jsonHash(inputSchema),
    definitionHash: jsonHash({ description, inputSchema }),
    state,
  };
}

function isAsPinned(onChange: OnToolChange, pin: McpDefinition, tool: ListedMcpTool): boolean {
  const now = definitionOf(tool, MCP_STATE_ON);
  return onChange === OnToolChange.ON_TOOL_CHANGE_DISABLE
    ? now.definitionHash === pin.definitionHash
    : now.schemaHash === pin.schemaHash;
}
