import { presentConversation } from "@parley/shared/domain/present/conversation";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { pageFigures } from "../present/page.ts";
import { required } from "../present/required.ts";
import {
  AnalysisStarted,
  Conversation,
  ConversationList,
  includedBy,
  ListConversationsQuery,
  ReadConversationQuery,
} from "../schemas/conversations.ts";
import { listConversationsRequest } from "./conversation-request.ts";
import { endpoints } from "./endpoint.ts";

/** Some searches read transcripts instead of an index, and an owner's searches wait for each other. */
const SEARCH_TIMEOUT_MS = 20_000;

export function conversationRoutes(gate: GateContext, { conversations }: Clients) {
  const route = endpoints(gate, { tag: "Conversations" });
  return new Elysia({ prefix: "/v1/public/conversations" })
    .get(
      "/",
      ...route(
        {
          id: "listConversations",
          summary: "List conversations, newest first",
          scope: "conversations:read",
          query: ListConversationsQuery,
          isList: true,
          response: ConversationList,
        },
        async ({ ownerId, query, origin }) => {
          const { request, page } = listConversationsRequest(ownerId, query);
          const options = request.search === "" ? { origin } : { origin, timeoutMs: SEARCH_TIMEOUT_MS };
          const { conversations: found, total } = await conversations.listConversations(request, options);
          const figures = pageFigures(total, page);
          const neighbours = {
            has_next: page.number < figures.total_pages,
            has_previous: page.number > 1 && total > 0,
          };
          const data = found.map((each) => presentConversation(each, { cost: query.include === "cost" }));
          if (query.shape === "flat") return { conversations: data, ...figures, ...neighbours };
          return {
            status: "success",
            message: "Conversations retrieved successfully",
            data,
            pagination: { ...figures, ...neighbours },
          };
        },
      ),
    )
    .get(
      "/:conversation_id",
      ...route(
        {
          id: "getConversation",
          summary: "Get a conversation",
          scope: "conversations:read",
          query: ReadConversationQuery,
          isList: true,
          response: Conversation,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const shown = includedBy(query);
          const request = {
            ownerId,
            conversationId: params.conversation_id ?? "",
            withToolCalls: shown.replies,
            withUsage: shown.cost,
            withKnowledge: shown.sources,
          };
          const { conversation } = await conversations.getConversation(request, { origin });
          return presentConversation(required(conversation), shown);
        },
      ),
    )
    .post(
      "/:conversation_id/analysis",
      ...route(
        {
          id: "analyzeConversation",
          summary: "Analyze a conversation again",
          description:
            "Starts an analysis of an ended conversation with the settings of the agent's newest version. It runs in the background: the earlier `conversation_analysis` stays until the new one replaces it. No webhook is sent.",
          scope: "chat",
          response: AnalysisStarted,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const conversationId = params.conversation_id ?? "";
          await conversations.analyzeConversation({ ownerId, conversationId, idempotency }, write);
          return { conversation_id: conversationId, message: "Analysis started" };
        },
      ),
    );
}
