import { queryOptions } from "@tanstack/react-query";
import { api, patiently, read } from "../../../api/client.ts";
import type { Tone } from "../../../ui/badge.tsx";
import { type Document, type DocumentStatus, KNOWLEDGE } from "../knowledge.ts";

export const DOCUMENTS_PAGE_SIZE = 25;
/** How often a document is read again until its new content is read, in milliseconds. */
const PENDING_EVERY_MS = 1_500;

export const STATUSES: Readonly<Record<DocumentStatus, { label: string; tone: Tone }>> = {
  PENDING: { label: "Reading", tone: "accent" },
  READY: { label: "Ready", tone: "success" },
  FAILED: { label: "Failed", tone: "danger" },
};

/** The list's filters, by the API's names. */
export interface DocumentFilters {
  search?: string;
  status?: DocumentStatus;
  page?: number;
}

/** What names a document in the API. */
export interface DocumentKey {
  knowledge_base_id: string;
  document_id: string;
}

export function keyOf({ knowledge_base_id, id }: Document): DocumentKey {
  return { knowledge_base_id, document_id: id };
}

const ofBase = (baseId: string) => [...KNOWLEDGE, "documents", baseId] as const;

export const documentsQuery = (baseId: string, filters: DocumentFilters) =>
  queryOptions({
    queryKey: [...ofBase(baseId), filters],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases/{knowledge_base_id}/documents", {
        path: { knowledge_base_id: baseId },
        query: { page_size: DOCUMENTS_PAGE_SIZE, ...filters },
      }),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) =>
      state.data?.documents.some(({ status }) => status === "PENDING") ? PENDING_EVERY_MS : false,
  });

export const documentQuery = (key: DocumentKey) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "document", key.document_id],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}", { path: { ...key } }),
    refetchInterval: ({ state }) => (state.data?.status === "PENDING" ? PENDING_EVERY_MS : false),
  });

/** How many replies a document's page shows. */
export const REPLIES_SHOWN = 5;

/** The newest replies that used a document. */
export const repliesQuery = (key: DocumentKey) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "replies", key.document_id],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}/replies", {
        path: { ...key },
        query: { page_size: REPLIES_SHOWN },
      }),
  });

/** A document's text. @param version changes with the text */
export const textQuery = (key: DocumentKey, version: string) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "text", key.document_id, version],
    queryFn: async ({ signal }) => {
      const { text } = await api.GET("/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}", {
        params: { path: { ...key }, query: { include: "text" } },
        signal,
        fetch: patiently,
      });
      return text ?? "";
    },
  });

/** A chunk, which new content may no longer have. @param version changes with the text */
export const chunkQuery = (key: DocumentKey, chunkId: string, version: string) =>
  queryOptions({
    queryKey: [...KNOWLEDGE, "chunk", chunkId, version],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}/chunks/{chunk_id}", {
        path: { ...key, chunk_id: chunkId },
      }),
  });
