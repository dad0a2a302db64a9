import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["checkRoom"]>;

export function checkRoom({ room }: ConversationContext): Handler {
  return async ({ ownerId }) => {
    room.refuseFull(ownerId);
    return {};
  };
}
