import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { readPages } from "../../api/pages.ts";

export type Tool = Schema["Tool"];
export type ToolType = Tool["type"];
export type Parameter = Schema["ToolParameter"];

export const TOOLS = ["tools"] as const;
export const TOOLS_PAGE_SIZE = 20;

export const TOOL_TYPES = [
  { value: "http", label: "HTTP", about: "Sends a request to a server of yours, or of somebody else's." },
  { value: "client", label: "Client", about: "Your page or app does it, and gives the result back." },
  { value: "mcp", label: "MCP", about: "Brings all tools of an MCP server." },
] as const;

/** The list's filters, by the API's names. */
export interface ToolFilters {
  search?: string;
  type?: ToolType;
  page?: number;
}

export const toolsQuery = (filters: ToolFilters) =>
  queryOptions({
    queryKey: [...TOOLS, "list", filters],
    queryFn: ({ signal }) => read(signal, "/v1/public/tools", { query: { page_size: TOOLS_PAGE_SIZE, ...filters } }),
    placeholderData: (before) => before,
  });

export const toolQuery = (toolId: string) =>
  queryOptions({
    queryKey: [...TOOLS, "one", toolId],
    queryFn: ({ signal }) => read(signal, "/v1/public/tools/{tool_id}", { path: { tool_id: toolId } }),
  });

/** The newest thousand tools, to choose from. */
export const libraryQuery = queryOptions({
  queryKey: [...TOOLS, "library"],
  queryFn: ({ signal }) =>
    readPages(
      (query) => read(signal, "/v1/public/tools", { query }),
      ({ tools }) => tools,
    ),
});

export function labelOfType(type: ToolType): string {
  return TOOL_TYPES.find(({ value }) => value === type)?.label ?? type;
}
