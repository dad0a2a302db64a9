import { fieldOf, listOf, textOf } from "./fields.ts";

/** WhatsApp's own limit for a text; captions and names are shorter. */
const CHARACTERS_MAX = 4_096;

/**
 * The text of a message for the agent: its own, or a line in brackets that names its kind. Null for a message that needs no
 * answer, such as a reaction.
 */
export function messageText(message: unknown): string | null {
  const type = textOf(message, "type");
  const own = fieldOf(message, type);
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  const text = read?.(own, message) ?? null;
  return text === null ? null : storable(text);
}

/** A JSON column stores neither NUL nor half of a character, which the cut may leave. */
function storable(text: string): string {
  return text.replaceAll("\0", "").slice(0, CHARACTERS_MAX).toWellFormed();
}

type Reader = (own: unknown, message: unknown) => string | null;

const READERS: Readonly<Record<string, Reader>> = {
  text: (text) => textOf(text, "body") || null,
  button: (button) => textOf(button, "text") || null,
  interactive: (interactive) => replyOf(interactive),
  location: (location) => {
    const [latitude, longitude] = [fieldOf(location, "latitude"), fieldOf(location, "longitude")];
    return line("location", [textOf(location, "name"), textOf(location, "address"), `${latitude}, ${longitude}`]);
  },
  image: (image) => line("image", [textOf(image, "caption")]),
  video: (video) => line("video", [textOf(video, "caption")]),
  sticker: () => line("sticker", []),
  audio: () => line("audio file", []),
  document: (document) => line("document", [textOf(document, "filename"), textOf(document, "caption")]),
  contacts: (_own, message) => line("contact", listOf(message, "contacts").slice(0, 10).map(contactOf)),
  order: (order) => line(`order of ${listOf(order, "product_items").length} products`, [textOf(order, "text")]),
  unsupported: () => "[a message that WhatsApp does not pass on]",
};

function replyOf(interactive: unknown): string | null {
  const type = textOf(interactive, "type");
  const reply = fieldOf(interactive, type);
  if (type === "nfm_reply") return line("form", [textOf(reply, "response_json")]);
  const title = textOf(reply, "title");
  const description = textOf(reply, "description");
  return [title, description].filter((text) => text !== "").join(": ") || null;
}

function contactOf(contact: unknown): string {
  const phones = listOf(contact, "phones").map((phone) => textOf(phone, "phone"));
  return [textOf(fieldOf(contact, "name"), "formatted_name"), ...phones].filter((text) => text !== "").join(" ");
}

function line(what: string, details: readonly string[]): string {
  const told = details.filter((text) => text !== "").join(", ");
  return told === "" ? `[${what}]` : `[${what}: ${told}]`;
}
