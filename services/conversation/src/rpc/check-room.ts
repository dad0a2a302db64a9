import type { ConversationContext, Handler } from "../context.ts";

/** @throws ServiceError conflict without room; as `Agents.choose`, if a conversation with the agent could not begin */
export function checkRoom({ room, agents }: ConversationContext): Handler<"checkRoom"> {
  return async ({ ownerId, agentId, ...asked }) => {
    const agent = agentId ? await agents.choose(ownerId, agentId, { ...asked, caller: { conversationId: "" } }) : null;
    room.refuseFull(ownerId);
    return { agentVersion: agent?.agentVersion };
  };
}
