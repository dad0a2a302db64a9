import { idOf } from "@parley/shared/ids";
import type { ConversationContext } from "../context.ts";
import type { EventRow } from "../store/conversation-events.ts";

/** An event and what every attempt sends of it. */
export interface ReadyEvent extends EventRow {
  payload: string;
}

export interface SendOutcome {
  sent: ReadyEvent[];
  failed: { event: ReadyEvent; error: unknown }[];
}

/** At once, at the dispatcher. */
const CONCURRENCY = 16;

/** Sends events side by side. When the first to be answered fail no more are begun: those are in neither list. */
export async function sendEvents(ctx: ConversationContext, events: readonly ReadyEvent[]): Promise<SendOutcome> {
  const waiting = [...events];
  const outcome: SendOutcome = { sent: [], failed: [] };
  const seemsAway = () => outcome.failed.length > 0 && outcome.sent.length === 0;
  const work = async () => {
    for (let event = waiting.shift(); event; event = seemsAway() ? undefined : waiting.shift()) {
      try {
        await send(ctx, event);
        outcome.sent.push(event);
      } catch (error) {
        outcome.failed.push({ event, error });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return outcome;
}

async function send({ acceptEvent }: ConversationContext, event: ReadyEvent): Promise<void> {
  const { ownerId, conversationId, payload, traceparent } = event;
  await acceptEvent({
    ownerId,
    eventId: idOf("evt", event.eventUuid),
    event: event.event,
    conversationId,
    payload,
    traceparent: traceparent ?? undefined,
  });
}
