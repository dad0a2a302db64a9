import { queryOptions } from "@tanstack/react-query";
import { api, patiently, read, type Schema } from "../../api/client.ts";
import { type Filters, parametersOf } from "./filters.ts";
import { type Asked, readAgainAfter } from "./follow.ts";

export type Conversation = Schema["Conversation"];
export type Message = Schema["Message"];

export const PAGE_SIZE = 25;
/** Events tell who comes and goes; messages and costs change without one. */
const LIST_EVERY_MS = 30_000;

/** A page of the list, with what the replies cost. @param until leaves out conversations that began later */
export async function readConversations(
  filters: Filters,
  { size, until, signal = null }: { size: number; until?: Date; signal?: AbortSignal | null },
) {
  // The API lists the values that a parameter may have.
  const query = { ...parametersOf(filters, until), page_size: size, include: "cost", shape: "flat" } as {
    shape: "flat";
  };
  const isLong = filters.search !== undefined && { fetch: patiently };
  const answer = await api.GET("/v1/public/conversations", { params: { query }, signal, ...isLong });
  return "conversations" in answer ? answer : { conversations: answer.data, ...answer.pagination };
}

/** Whether the list changes while it is looked at. A search may read transcripts, so it is not repeated. */
export function isNewest({ page, search }: Filters): boolean {
  return page === undefined && search === undefined;
}

/** A page of the list, read again while it is the newest. */
export function conversationsQuery(filters: Filters) {
  return queryOptions({
    queryKey: ["conversations", filters],
    queryFn: ({ signal }) => readConversations(filters, { size: PAGE_SIZE, signal }),
    placeholderData: (before) => before,
    refetchInterval: isNewest(filters) ? LIST_EVERY_MS : false,
  });
}

/** A conversation, polled while its analysis may come. @param asked when its analysis was asked for again */
export function conversationQuery(conversationId: string, asked?: Asked) {
  return queryOptions({
    queryKey: ["conversation", conversationId],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/conversations/{conversation_id}", {
        path: { conversation_id: conversationId },
        query: { include: "cost,sources" },
      }),
    refetchInterval: ({ state }) => state.data !== undefined && readAgainAfter(state.data, Date.now(), asked),
  });
}
