import { queryOptions } from "@tanstack/react-query";
import { api, ask, type Schema } from "../../api/client.ts";
import { PAGE_SIZE_MAX, readPages } from "../../api/pages.ts";

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
      ask(
        api.GET("/v1/public/prompts", {
          params: { query: { page_size: PROMPTS_PAGE_SIZE, latest_only: true, ...filters } },
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });

/** The prompts that an agent can be given: those among the newest thousand that are not an agent's own. */
export const sharedPromptsQuery = queryOptions({
  queryKey: [...PROMPTS, "shared"],
  queryFn: async ({ signal }) => {
    const { items } = await readPages(async (page) => {
      const query = { page, page_size: PAGE_SIZE_MAX, latest_only: true };
      const { prompts, total } = await ask(api.GET("/v1/public/prompts", { params: { query }, signal }));
      return { items: prompts, total };
    });
    return items.filter(({ prompt_name }) => agentOf(prompt_name) === null);
  },
});

/** All versions of a prompt, newest first, and who uses it. */
export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: [...PROMPTS, "versions", name],
    queryFn: ({ signal }) =>
      ask(
        api.GET("/v1/public/prompts/{prompt_name}/versions", {
          params: { path: { prompt_name: name }, query: { include: "used_by" } },
          signal,
        }),
      ),
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
