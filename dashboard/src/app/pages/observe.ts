/** The pages under Observe, which come together: a script for each would be dozens of small files for what they share. */
export { CallsPage } from "../../features/calls/calls-page.tsx";
export { ConversationPage } from "../../features/conversations/conversation-page.tsx";
export { ConversationsPage } from "../../features/conversations/conversations-page.tsx";
