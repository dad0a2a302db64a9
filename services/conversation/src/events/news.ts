import { presentConversation, presentMessage, presentToolCall } from "@parley/shared/domain/present/conversation";
import { idOf } from "@parley/shared/ids";
import { EVENTS, type EventName } from "@parley/shared/portable/events";
import type { ConversationContext } from "../context.ts";
import { toConversation, toMessage, toToolCall } from "../convert.ts";
import { findConversation } from "../store/conversations.ts";
import type { EventRow, UnbuiltEvent } from "../store/events/owner-events.ts";
import { ANALYSIS_BYTES_MAX, PAYLOAD_BYTES_MAX } from "../store/events/payload-bounds.ts";
import { findDelivered } from "../store/messages.ts";
import { findToolCall } from "../store/turns/tool-calls.ts";

/** The payload of any event but the end of a conversation (docs/webhooks.md). @param object as the API shows it */
export function payloadOfNews(
  {
    event,
    eventUuid,
    happenedAt,
    conversationId,
  }: Pick<EventRow, "event" | "eventUuid" | "happenedAt" | "conversationId">,
  object: object,
): string {
  return JSON.stringify({
    event,
    id: idOf("evt", eventUuid),
    created_at: happenedAt.toISOString(),
    ...(conversationId !== null && { conversation_id: conversationId }),
    [EVENTS[event].key ?? "conversation"]: object,
  });
}

/** The same of an event that is stored without it; null if what it is about is gone. */
export async function newsPayload(ctx: ConversationContext, event: UnbuiltEvent): Promise<string | null> {
  const object = await OBJECTS[event.event as keyof typeof OBJECTS]?.(ctx, event);
  if (!object) return null;
  const payload = payloadOfNews(event, object);
  if (Buffer.byteLength(payload) <= PAYLOAD_BYTES_MAX) return payload;
  return payloadOfNews(event, withoutLongFields(object));
}

type Finder = (ctx: ConversationContext, event: UnbuiltEvent) => Promise<object | null>;

const OBJECTS = {
  "conversation.started": findEventConversation,
  "conversation.analyzed": findEventConversation,
  "tool.failed": async ({ db }, { about, ...key }) => {
    const call = await findToolCall(db, { ...key, toolCallId: about ?? "" });
    return call && presentToolCall(toToolCall(call));
  },
  "message.failed": async ({ db }, { about, ...key }) => {
    const message = await findDelivered(db, key, Number(about));
    return message && presentMessage(toMessage(message));
  },
} as const satisfies Partial<Record<EventName, Finder>>;

async function findEventConversation({ db, clock }: ConversationContext, key: UnbuiltEvent): Promise<object | null> {
  const row = await findConversation(db, key, clock.now());
  if (!row) return null;
  const { conversation_transcript: _, ...conversation } = presentConversation(toConversation(row, []));
  return conversation;
}

/** What clients gave a conversation may be larger than a payload, and so may its analysis. */
function withoutLongFields(object: object): object {
  const isLong = (value: unknown) => Buffer.byteLength(JSON.stringify(value ?? null)) > ANALYSIS_BYTES_MAX;
  const entries = Object.entries(object).map(([name, value]) => {
    if (!isLong(value)) return [name, value];
    return [name, name === "conversation_metadata" ? {} : null];
  });
  return Object.fromEntries(entries);
}
