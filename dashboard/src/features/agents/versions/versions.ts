import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, read, type Schema } from "../../../api/client.ts";
import { AGENTS, type Agent } from "../agents.ts";
import type { Share } from "./shares.ts";

export type ListedVersion = Schema["ListedAgentVersion"];
export type PublishEntry = Schema["AgentPublish"];

export const VERSIONS_PAGE_SIZE = 20;

/** Everything about versions of an agent, which a change of the agent or of a prompt may add to. */
export const versionsOf = (agentId: string) => [...AGENTS, "versions", agentId] as const;

/** A page of an agent's versions, newest first, with their figures. */
export const versionsQuery = (agentId: string, page = 1) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "list", page],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/versions", {
        path: { agent_id: agentId },
        query: { page, page_size: VERSIONS_PAGE_SIZE },
      }),
    placeholderData: (before) => before,
  });

/** A version with all of its settings, prompts and tools, which never change. */
export const versionQuery = (agentId: string, version: number) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "one", version],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/versions/{agent_version}", {
        path: { agent_id: agentId, agent_version: String(version) },
      }),
  });

/** A page of an agent's publish log, newest first. */
export const publishesQuery = (agentId: string, page = 1) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "publishes", page],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/publishes", {
        path: { agent_id: agentId },
        query: { page, page_size: VERSIONS_PAGE_SIZE },
      }),
    placeholderData: (before) => before,
  });

/** The versions that an agent's new conversations get. */
export const trafficQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "traffic"],
    queryFn: async ({ signal }) => {
      const path = { agent_id: agentId };
      return (await read(signal, "/v1/public/agents/{agent_id}/traffic", { path })).split;
    },
  });

/** Two versions of an agent. */
export interface Pair {
  agentId: string;
  from: number;
  to: number;
}

/** What changed between two versions, which never changes itself. */
export const diffQuery = ({ agentId, from, to }: Pair) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "diff", from, to],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/versions/{agent_version}/diff/{other_version}", {
        path: { agent_id: agentId, agent_version: String(from), other_version: String(to) },
      }),
  });

/** The figures of two versions side by side. @param days the last days that count, today included; null for all */
export const comparisonQuery = ({ agentId, from, to }: Pair, days: number | null) =>
  queryOptions({
    queryKey: [...versionsOf(agentId), "compare", from, to, days],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/versions/{agent_version}/compare/{other_version}", {
        path: { agent_id: agentId, agent_version: String(from), other_version: String(to) },
        query: { include: "cost", ...(days !== null && { from: dayBefore(days - 1) }) },
      }),
    placeholderData: (before) => before,
  });

const DAY_MS = 86_400_000;

/** A day in UTC, as the API counts them. */
function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

/** Says what is published and why, for the publish log. */
export type Said = Pick<Schema["PublishVersionRequest"], "note" | "override">;

/** Has an agent's new conversations get a version. */
export function usePublish(agentId: string, onDone: () => void) {
  return useAgentWrite(
    ({ agentVersion, ...body }: Said & { agentVersion: number }) =>
      api.POST("/v1/public/agents/{agent_id}/versions/{agent_version}/publish", {
        params: { path: { agent_id: agentId, agent_version: String(agentVersion) } },
        body,
      }),
    onDone,
  );
}

/** Splits an agent's new conversations between versions. */
export function useSetTraffic(agentId: string, onDone: () => void) {
  return useAgentWrite(
    (body: Said & { split: Share[] }) =>
      api.PUT("/v1/public/agents/{agent_id}/traffic", { params: { path: { agent_id: agentId } }, body }),
    onDone,
  );
}

function useAgentWrite<Sent>(write: (sent: Sent) => Promise<unknown>, onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: write,
    onSuccess: async () => {
      onDone();
      await client.invalidateQueries({ queryKey: AGENTS });
    },
  });
}

/** How many versions a list offers: the newest. */
const OFFERED_MAX = 100;

/** The versions to choose from, newest first: the newest ones, and those of `also` that are older. */
export function versionNumbers(
  { latest_version: latest }: Pick<Agent, "latest_version">,
  also: readonly number[] = [],
) {
  const newest = Array.from({ length: Math.min(latest, OFFERED_MAX) }, (_, at) => latest - at);
  return [...new Set([...newest, ...also])].sort((a, b) => b - a);
}
