import type { ConversationContext, Handler } from "../context.ts";
import { setWantedEvents as storeWanted } from "../store/events/owner-events.ts";

/** A name that is not known here is a newer dispatcher's, and stored for the newer version of this service. */
export function setWantedEvents({ db }: ConversationContext): Handler<"setWantedEvents"> {
  return async ({ ownerId, events, revision }) => {
    await storeWanted(db, ownerId, events, revision);
    return {};
  };
}
