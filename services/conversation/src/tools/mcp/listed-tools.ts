import type { ListedMcpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import { SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX } from "@parley/shared/domain/mcp-definitions";
import { storable } from "../../store/storable.ts";
import { type McpSession, tellable } from "./sessions.ts";

/**
 * What a server offers, as it may be stored and shown: without secrets that the server echoes, and of a schema that is too long or too
 * deep only as much as shows that. @throws McpFailure
 */
export async function listTools({ connection, mask }: McpSession, signal: AbortSignal): Promise<ListedMcpTool[]> {
  const listed = await connection.listTools(signal).catch((error) => {
    throw tellable(error, mask);
  });
  const shown = (text: string) => mask(storable(text));
  return listed.map(({ name, description, inputSchema = {} }) => ({
    name: shown(name),
    description: shown(description),
    inputSchema: beginningOf(inputSchema, shown),
  }));
}

function beginningOf(schema: ListedMcpTool["inputSchema"] & object, shown: (text: string) => string): typeof schema {
  /** Counted low, so that what is cut here is too long for the library, too. */
  let bytesLeft = SCHEMA_BYTES_MAX;
  const copy = (value: unknown, depth: number): unknown => {
    bytesLeft--;
    if (typeof value === "string") {
      const text = shown(value);
      bytesLeft -= Buffer.byteLength(text);
      return text;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > SCHEMA_DEPTH_MAX) return {};
    const kept: [name: string, value: unknown][] = [];
    for (const [name, inner] of Object.entries(value)) {
      if (bytesLeft < 0) break;
      const shownName = shown(name);
      if (!Array.isArray(value)) bytesLeft -= Buffer.byteLength(shownName);
      kept.push([shownName, copy(inner, depth + 1)]);
    }
    return Array.isArray(value) ? kept.map(([, inner]) => inner) : Object.fromEntries(kept);
  };
  return copy(schema, 1) as typeof schema;
}
