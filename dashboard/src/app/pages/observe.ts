/**
 * The pages under Observe, which load as one script: a script for each page would need dozens of small files for what they share.
 */
import "../shared.ts";
import { agentNamesQuery } from "../../features/agents/agents.ts";
import { callsQuery } from "../../features/calls/queries.ts";
import { conversationQuery, conversationsQuery } from "../../features/conversations/queries.ts";
import type { FirstQueries } from "../first-data.ts";

export { CallsPage } from "../../features/calls/calls-page.tsx";
export { ConversationPage } from "../../features/conversations/conversation-page.tsx";
export { ConversationsPage } from "../../features/conversations/conversations-page.tsx";

/** What these pages ask for first when their address has no filters. */
export const FIRST_QUERIES: FirstQueries = {
  "/calls": () => [callsQuery({}), agentNamesQuery],
  "/conversations": () => [conversationsQuery({}), agentNamesQuery],
  "/conversations/$conversationId": ({ conversationId = "" }) => [conversationQuery(conversationId), agentNamesQuery],
};
