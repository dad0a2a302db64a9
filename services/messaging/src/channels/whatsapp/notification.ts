import { isUuid } from "@parley/shared/ids";
import type { IncomingContent, IncomingMessage } from "../../store/incoming.ts";
import type { Delivery, DeliveryReport } from "../../store/outgoing.ts";
import type { News } from "../../threads/take-news.ts";
import { fieldOf, listOf, textOf } from "./fields.ts";
import { messageText } from "./message-text.ts";

/** The reports of a callback about one phone number: at least one. */
export interface Notification extends News {
  phoneNumberId: string;
}

const STATUSES: Readonly<Record<string, Delivery>> = {
  sent: "sent",
  delivered: "delivered",
  read: "read",
  // `played` is the status of a voice message after `read`.
  played: "read",
  failed: "failed",
};
const WAMID_CHARACTERS_MAX = 256;
/** WhatsApp's ids of media. */
export const MEDIA_ID = /^[A-Za-z0-9_-]{1,200}$/;
/** The form of a number that the conversation service accepts, without its plus. */
const CONTACT = /^[1-9]\d{6,14}$/;

/**
 * Reads the useful parts of a callback and skips the rest: reactions, system messages, and what a later version adds
 * (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages).
 * @returns null when the body is not JSON
 */
export function readNotifications(body: Uint8Array): Notification[] | null {
  const root = parsed(body);
  if (root === undefined) return null;
  return listOf(root, "entry").flatMap((entry) =>
    listOf(entry, "changes").flatMap((change) => {
      const value = fieldOf(change, "value");
      const phoneNumberId = textOf(fieldOf(value, "metadata"), "phone_number_id");
      if (textOf(change, "field") !== "messages" || phoneNumberId === "") return [];
      const messages = listOf(value, "messages").flatMap((message) => incomingMessage(message) ?? []);
      const statuses = listOf(value, "statuses").flatMap((status) => deliveryStatus(status) ?? []);
      return messages.length + statuses.length > 0 ? { phoneNumberId, messages, statuses } : [];
    }),
  );
}

function incomingMessage(message: unknown): IncomingMessage | null {
  const messageId = textOf(message, "id");
  const contact = textOf(message, "from");
  // A group has no agent, and a person without a phone number cannot be in a conversation yet.
  if (!isWamid(messageId) || !CONTACT.test(contact) || textOf(message, "group_id") !== "") return null;
  const type = textOf(message, "type");
  const sentAt = Number(/^\d{1,12}$/.exec(textOf(message, "timestamp"))?.[0] ?? 0);
  if (type !== "edit" && type !== "revoke") {
    const content = contentOf(message);
    return content && { messageId, contact, content, changes: null, sentAt };
  }
  const change = fieldOf(message, type);
  const changes = textOf(change, "original_message_id");
  const content = type === "edit" ? contentOf(fieldOf(change, "message")) : null;
  if (!isWamid(changes) || (type === "edit" && !content)) return null;
  return { messageId, contact, content, changes, sentAt };
}

/** Null for a message that needs no answer. */
function contentOf(message: unknown): IncomingContent | null {
  const audio = fieldOf(message, "audio");
  const mediaId = textOf(audio, "id");
  if (textOf(message, "type") === "audio" && isVoice(audio) && MEDIA_ID.test(mediaId))
    return { type: "voice", mediaId };
  const text = messageText(message);
  return text === null ? null : { type: "text", text };
}

/** Recorded in WhatsApp, not a piece of music that was attached. */
function isVoice(audio: unknown): boolean {
  return fieldOf(audio, "voice") === true || textOf(audio, "mime_type").startsWith("audio/ogg");
}

function deliveryStatus(given: unknown): DeliveryReport | null {
  const wamid = textOf(given, "id");
  const status = STATUSES[textOf(given, "status")];
  if (!isWamid(wamid) || !status) return null;
  const ours = textOf(given, "biz_opaque_callback_data");
  const [error] = listOf(given, "errors");
  const code = fieldOf(error, "code");
  return {
    externalId: wamid,
    messageId: isUuid(ours) ? ours.toLowerCase() : null,
    status,
    errorCode: status === "failed" && typeof code === "number" ? String(code) : null,
  };
}

function isWamid(text: string): boolean {
  return text !== "" && text.length <= WAMID_CHARACTERS_MAX && !text.includes("\0");
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
