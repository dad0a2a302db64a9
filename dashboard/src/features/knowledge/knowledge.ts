import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { readPages } from "../../api/pages.ts";

export type KnowledgeBase = Schema["KnowledgeBase"];
export type Document = Schema["Document"];
export type DocumentStatus = Document["status"];

export const KNOWLEDGE = ["knowledge"] as const;
export const BASES_PAGE_SIZE = 20;

/** The list's filters, by the API's names. */
export interface BaseFilters {
  search?: string;
  page?: number;
}

export const basesQuery = (filters: BaseFilters) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "list", filters],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases", { query: { page_size: BASES_PAGE_SIZE, ...filters } }),
    placeholderData: (before) => before,
  });

export const baseQuery = (baseId: string) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "one", baseId],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases/{knowledge_base_id}", { path: { knowledge_base_id: baseId } }),
  });

/** The newest thousand knowledge bases, to choose from. */
export const allBasesQuery = queryOptions({
  queryKey: [...KNOWLEDGE, "all"],
  queryFn: ({ signal }) =>
    readPages(
      (query) => read(signal, "/v1/public/knowledge-bases", { query }),
      (page) => page.knowledge_bases,
    ),
});
