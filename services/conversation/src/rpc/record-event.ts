import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { type EventName, isEventName } from "@parley/shared/portable/events";
import type { ConversationContext, Handler } from "../context.ts";
import { payloadOfNews } from "../events/news.ts";
import { insertEvent } from "../store/events/owner-events.ts";

/** What happens in other services; everything else is noted where it is stored here. */
const RECORDED: readonly EventName[] = [
  "recording.ready",
  "recording.failed",
  "transfer.completed",
  "transfer.failed",
  "tool.changed",
];
const OBJECT_BYTES_MAX = 512 * 1024;

export function recordEvent({ db }: ConversationContext): Handler<"recordEvent"> {
  return async ({ ownerId, eventUuid, event, conversationId, happenedAt, object }) => {
    if (!isEventName(event) || !RECORDED.includes(event))
      throw invalid("event", `event must be one of ${RECORDED.join(", ")}`);
    if (!isUuid(eventUuid)) throw invalid("event_uuid", "event_uuid must be a UUID");
    if (conversationId !== "" && !isUuid(conversationId))
      throw invalid("conversation_id", "conversation_id must be a UUID, or empty");
    if (!happenedAt) throw invalid("happened_at", "happened_at is required");
    const row = { ownerId, eventUuid, event, happenedAt, conversationId: conversationId || null };
    const payload = payloadOfNews(row, readObject(object));
    await db.begin((tx) => insertEvent(tx, { ...row, payload }));
    return {};
  };
}

function readObject(json: string): object {
  const object = Buffer.byteLength(json) > OBJECT_BYTES_MAX ? null : parsed(json);
  if (typeof object !== "object" || object === null)
    throw invalid("object", "object must be a JSON object of at most 512 KiB");
  return object;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
