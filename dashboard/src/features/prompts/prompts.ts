import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { readPages } from "../../api/pages.ts";

export type Prompt = Schema["Prompt"];
export type Version = Schema["PromptVersions"]["versions"][number];

export const PROMPTS = ["prompts"] as const;
export const PROMPTS_PAGE_SIZE = 20;

export const PROMPT_TYPES = [
  { value: "main", label: "Conversation" },
  { value: "analysis", label: "Analysis" },
] as const;
export type PromptType = (typeof PROMPT_TYPES)[number]["value"];

export interface PromptFilters {
  search?: string;
  page?: number;
}

/** Prompts in their latest versions. */
export const promptsQuery = (filters: PromptFilters) =>
  queryOptions({
    queryKey: [...PROMPTS, "list", filters],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/prompts", { query: { page_size: PROMPTS_PAGE_SIZE, latest_only: true, ...filters } }),
    placeholderData: (before) => before,
  });

/** The prompts that an agent can be given: those among the newest thousand that are not an agent's own. */
export const sharedPromptsQuery = queryOptions({
  queryKey: [...PROMPTS, "shared"],
  queryFn: async ({ signal }) => {
    const { items } = await readPages(
      (query) => read(signal, "/v1/public/prompts", { query: { ...query, latest_only: true } }),
      ({ prompts }) => prompts,
    );
    return items.filter(({ prompt_name }) => agentOf(prompt_name) === null);
  },
});

/** All versions of a prompt, newest first, and who uses it. */
export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: [...PROMPTS, "versions", name],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/prompts/{prompt_name}/versions", {
        path: { prompt_name: name },
        query: { include: "used_by" },
      }),
  });

/** The agent whose own text a prompt holds; null for one that was created as a prompt. */
export function agentOf(promptName: string): string | null {
  return /^agent-(agt_[a-z0-9]+)(?:-analysis)?$/.exec(promptName)?.[1] ?? null;
}

/** How a prompt is called that holds an agent's own text; null for one that was created as a prompt. */
export function ownPromptTitle(promptName: string, agentName: string | undefined): string | null {
  if (agentOf(promptName) === null || agentName === undefined) return null;
  return promptName.endsWith("-analysis") ? `${agentName}: analysis` : agentName;
}
