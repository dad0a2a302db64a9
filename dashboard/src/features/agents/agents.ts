import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { readPages } from "../../api/pages.ts";
import { distinctNames } from "./distinct-names.ts";

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
    queryFn: ({ signal }) => read(signal, "/v1/public/agents", { query: { page_size: AGENTS_PAGE_SIZE, ...filters } }),
    placeholderData: (before) => before,
  });

export const agentQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...AGENTS, "one", agentId],
    queryFn: ({ signal }) => read(signal, "/v1/public/agents/{agent_id}", { path: { agent_id: agentId } }),
  });

/** The agent as new conversations have it, unless its traffic is split; an error if no version is published. */
export const publishedAgentQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...AGENTS, "published", agentId],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: agentId }, query: { agent_version: "published" } };
      return read(signal, "/v1/public/agents/{agent_id}", params);
    },
    enabled: agentId !== "",
  });

/** The newest thousand agents, and whether these are all. */
export function readAgents(signal: AbortSignal) {
  return readPages(
    (query) => read(signal, "/v1/public/agents", { query }),
    ({ agents }) => agents,
  );
}

export interface AgentNames {
  byId: ReadonlyMap<string, string>;
  /** Whether an agent that is not among them was deleted. */
  areAll: boolean;
}

/** The names of the newest thousand agents, each told apart from the others. */
export const agentNamesQuery = queryOptions({
  queryKey: [...AGENTS, "names"],
  queryFn: async ({ signal }): Promise<AgentNames> => {
    const { items, areAll } = await readAgents(signal);
    return { byId: distinctNames(items), areAll };
  },
  staleTime: 60_000,
});

/** How a list names an agent. @param names undefined until they are read */
export function nameOfAgent(names: AgentNames | undefined, agentId: string): string {
  if (!names) return "…";
  return names.byId.get(agentId) ?? (names.areAll ? "Deleted agent" : agentId);
}

/** Which models are ready to use, and the one for new agents. */
export const modelSetupQuery = queryOptions({
  queryKey: ["models"],
  queryFn: ({ signal }) => read(signal, "/v1/manage/models"),
  staleTime: 300_000,
});

/** The providers of speech, and which of them the operator has set up. */
export const speechSetupQuery = queryOptions({
  queryKey: ["speech"],
  queryFn: ({ signal }) => read(signal, "/v1/manage/speech"),
  staleTime: 300_000,
});

/** The catalogue: models by provider. */
export const providersQuery = queryOptions({
  queryKey: ["providers"],
  queryFn: ({ signal }) => read(signal, "/v1/public/providers"),
  staleTime: 300_000,
});
