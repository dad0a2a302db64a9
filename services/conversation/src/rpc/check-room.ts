import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["checkRoom"]>;

/** @throws ServiceError conflict without room; as `Agents.choose`, if a conversation with the agent could not begin */
export function checkRoom({ room, agents }: ConversationContext): Handler {
  return async ({ ownerId, agentId, ...asked }) => {
    const agent = agentId ? await agents.choose(ownerId, agentId, { ...asked, caller: { conversationId: "" } }) : null;
    room.refuseFull(ownerId);
    return { agentVersion: agent?.agentVersion };
  };
}
