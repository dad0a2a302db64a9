import { expect, test } from "bun:test";
import fc from "fast-check";
import { readNotifications } from "./notification.ts";

const PERSON = "16505551234";

function callback(value: object, field = "messages") {
  const metadata = { display_phone_number: "15550783881", phone_number_id: "106540352242922" };
  const change = { field, value: { messaging_product: "whatsapp", metadata, ...value } };
  const entry = [{ id: "102290129340398", changes: [change] }];
  return Buffer.from(JSON.stringify({ object: "whatsapp_business_account", entry }));
}

function contentOf(message: object) {
  const given = { from: PERSON, id: "wamid.A", timestamp: "1749416383", ...message };
  const [read] = readNotifications(callback({ messages: [given] })) ?? [];
  const [first] = read?.messages ?? [];
  return first?.content ?? null;
}

// The messages of Meta's reference.
test.each([
  [{ type: "text", text: { body: "Does it come in another color?" } }, "Does it come in another color?"],
  [{ type: "button", button: { payload: "Unsubscribe", text: "Unsubscribe" } }, "Unsubscribe"],
  [
    { type: "interactive", interactive: { type: "button_reply", button_reply: { id: "cancel", title: "Cancel" } } },
    "Cancel",
  ],
  [
    {
      type: "interactive",
      interactive: {
        type: "list_reply",
        list_reply: { id: "priority", title: "Priority Mail Express", description: "Next Day to 2 Days" },
      },
    },
    "Priority Mail Express: Next Day to 2 Days",
  ],
  [
    {
      type: "location",
      location: { latitude: 38.9806, longitude: -76.9372, name: "Main Street Beach", address: "Santa Cruz, CA" },
    },
    "[location: Main Street Beach, Santa Cruz, CA, 38.9806, -76.9372]",
  ],
  [{ type: "image", image: { caption: "Taj Mahal", mime_type: "image/jpeg", id: "1" } }, "[image: Taj Mahal]"],
  [{ type: "image", image: { mime_type: "image/jpeg", id: "1" } }, "[image]"],
  [
    { type: "document", document: { filename: "bill.pdf", caption: "The bill", id: "1" } },
    "[document: bill.pdf, The bill]",
  ],
  [{ type: "audio", audio: { mime_type: "audio/mpeg", id: "1" } }, "[audio file]"],
  [
    {
      type: "contacts",
      contacts: [{ name: { formatted_name: "Barbara Johnson" }, phones: [{ phone: "+1 (650) 555-1234" }] }],
    },
    "[contact: Barbara Johnson +1 (650) 555-1234]",
  ],
  [{ type: "unsupported", errors: [{ code: 131_051 }] }, "[a message that WhatsApp does not pass on]"],
])("%j is read as text", (message, text) => {
  expect(contentOf(message)).toEqual({ type: "text", text });
});

test("a voice message is kept to be transcribed", () => {
  const audio = { mime_type: "audio/ogg; codecs=opus", sha256: "x", id: "1908647269898587", voice: true };
  expect(contentOf({ type: "audio", audio })).toEqual({ type: "voice", mediaId: "1908647269898587" });
});

test.each([
  [{ type: "reaction", reaction: { message_id: "wamid.B", emoji: "👍" } }],
  [{ type: "system", system: { body: "changed number" } }],
  [{ type: "text", text: { body: "" } }],
  [{ type: "constructor" }],
  [{ type: "text", text: { body: "Hi" }, group_id: "a group" }],
  [{ type: "text", text: { body: "Hi" }, from: "US.13491208655302741918" }],
  [{ type: "text", text: { body: "Hi" }, id: "" }],
])("%j is skipped", (message) => {
  expect(contentOf(message)).toBeNull();
});

test("a text is stored without NUL and no longer than WhatsApp allows", () => {
  expect(contentOf({ type: "text", text: { body: `a\0b${"c".repeat(5_000)}` } })).toEqual({
    type: "text",
    text: `ab${"c".repeat(4_094)}`,
  });
});

test("a text that can be stored comes of one with half a character, or that is cut within one", () => {
  const contacts = [{ name: { formatted_name: "x".repeat(4_084) }, phones: [{ phone: "😀" }] }];
  for (const message of [
    { type: "text", text: { body: "half \ud83d" } },
    { type: "contacts", contacts },
  ]) {
    const content = contentOf(message);
    expect(content?.type === "text" && content.text.isWellFormed()).toBeTrue();
  }
});

test("a voice message whose media has no id of WhatsApp's is named", () => {
  for (const id of ["", "a\0", "\ud83d", "1".repeat(201)])
    expect(contentOf({ type: "audio", audio: { id, voice: true } })).toEqual({ type: "text", text: "[audio file]" });
});

test("statuses are read with our own id, and failures with Meta's code", () => {
  const ours = "01890000-0000-7000-8000-00000000000A";
  const statuses = [
    { id: "wamid.A", status: "sent", biz_opaque_callback_data: ours },
    { id: "wamid.B", status: "failed", errors: [{ code: 131_050, title: "Unable to deliver" }] },
    { id: "wamid.C", status: "played", biz_opaque_callback_data: "not ours" },
    { id: "wamid.D", status: "warning" },
  ];
  const [read] = readNotifications(callback({ statuses })) ?? [];
  expect(read?.statuses).toEqual([
    { externalId: "wamid.A", messageId: ours.toLowerCase(), status: "sent", errorCode: null },
    { externalId: "wamid.B", messageId: null, status: "failed", errorCode: "131050" },
    { externalId: "wamid.C", messageId: null, status: "read", errorCode: null },
  ]);
});

test("other fields of an app's webhook are ignored, and text that is not JSON is recognized", () => {
  expect(readNotifications(callback({ event: "APPROVED" }, "message_template_status_update"))).toEqual([]);
  expect(readNotifications(Buffer.from("{"))).toBeNull();
  expect(readNotifications(Buffer.from([0xff, 0xfe]))).toBeNull();
});

test("no JSON value makes the reader fail", () => {
  const value = fc.anything({ maxDepth: 4 });
  fc.assert(
    fc.property(value, value, (message, status) => {
      const text = JSON.stringify({ entry: [{ changes: [{ field: "messages", value: message }] }, message], status });
      readNotifications(Buffer.from(text));
      readNotifications(callback({ messages: [message, status], statuses: [status, message] }));
    }),
  );
});
