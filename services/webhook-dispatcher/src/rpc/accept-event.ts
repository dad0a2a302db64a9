import { type Accept, acceptor } from "../accept.ts";
import type { DispatcherContext, Handler } from "../context.ts";
import { checkEvent } from "../rules.ts";

export function acceptEvent({ db, clock }: DispatcherContext): Handler<"acceptEvent"> {
  const accept: Accept = acceptor(db, clock.now);
  return async ({ ownerId, eventId, event, conversationId, payload }) => {
    const row = { ownerId, eventId, event, conversationId, payload, test: false };
    checkEvent(row);
    await accept(row);
    return {};
  };
}
