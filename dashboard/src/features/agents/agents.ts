import { queryOptions } from "@tanstack/react-query";
import { api, ask, type Schema } from "../../api/client.ts";

export type Agent = Schema["Agent"];
/** The body of an agent's PATCH, which also tries the agent before it is saved. */
export type Changes = Schema["UpdateAgentRequest"];

export const AGENTS = ["agents"] as const;
export const AGENTS_PAGE_SIZE = 20;

export const AGENT_TYPES = [
  { value: "INBOUND", label: "Inbound" },
  { value: "OUTBOUND", label: "Outbound" },
] as const;
export type AgentType = (typeof AGENT_TYPES)[number]["value"];

/** The list's filters, by the API's names. */
export interface AgentFilters {
  search?: string;
  agent_type?: AgentType;
  page?: number;
}

export const agentsQuery = (filters: AgentFilters) =>
  queryOptions({
    queryKey: [...AGENTS, "list", filters],
    queryFn: ({ signal }) =>
      ask(api.GET("/v1/public/agents", { params: { query: { page_size: AGENTS_PAGE_SIZE, ...filters } }, signal })),
    placeholderData: (before) => before,
  });

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...AGENTS, "one", agentId],
    queryFn: ({ signal }) =>
      ask(api.GET("/v1/public/agents/{agent_id}", { params: { path: { agent_id: agentId } }, signal })),
  });

const NAMES_MAX = 100;

/** The names of the newest agents by their ids; a deleted agent has none. */
export const agentNamesQuery = queryOptions({
  queryKey: [...AGENTS, "names"],
  queryFn: async ({ signal }) => {
    const { agents } = await ask(api.GET("/v1/public/agents", { params: { query: { page_size: NAMES_MAX } }, signal }));
    return new Map(agents.map(({ id, agent_name }) => [id, agent_name]));
  },
  staleTime: 60_000,
});

/** Which models are ready to use, and the one for new agents. */
export const modelSetupQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => ask(api.GET("/v1/manage/models", { signal })),
  staleTime: 300_000,
});

/** The catalogue: models by provider. */
export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: ({ signal }) => ask(api.GET("/v1/public/providers", { signal })),
  staleTime: 300_000,
});
