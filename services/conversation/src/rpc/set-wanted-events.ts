import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { setWantedEvents as storeWanted } from "../store/events/owner-events.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["setWantedEvents"]>;

/** A name that is not known here is a newer dispatcher's, and stored for the newer version of this service. */
export function setWantedEvents({ db }: ConversationContext): Handler {
  return async ({ ownerId, events, revision }) => {
    await storeWanted(db, ownerId, events, revision);
    return {};
  };
}
