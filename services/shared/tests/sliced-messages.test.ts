import { expect, test } from "bun:test";
import { GetConversationResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { SLICE_BYTES, sliceMessage } from "../src/rpc/sliced-message.ts";

const TEXTS = {
  "of one byte a character": "many words ".repeat(40_000),
  "of two": "é".repeat(300_000),
  "of four, two units each": `a${"😀".repeat(100_000)}`,
  "with halves of pairs": "a\ud800b".repeat(50_000),
};

for (const [what, text] of Object.entries(TEXTS)) {
  test(`the slices of a message with texts ${what} are its encoding, none longer than a slice`, () => {
    const message = GetConversationResponse.fromPartial({
      conversation: {
        conversationId: "c",
        metadata: { long: text.slice(0, 20_000), nested: [1, { text: text.slice(1, 9_000) }, null] },
        transcript: { messages: [0, 1, 2].map((at) => ({ content: text.slice(at), timestamp: new Date(at * 1_000) })) },
        notes: "short",
      },
    });
    const { byteLength, slices } = sliceMessage(GetConversationResponse, message);
    const made = [...slices];
    const encoded = Buffer.from(GetConversationResponse.encode(message).finish());
    expect(Buffer.concat(made).equals(encoded)).toBeTrue();
    expect(byteLength).toBe(encoded.length);
    expect(Math.max(...made.map((slice) => slice.length))).toBeLessThanOrEqual(SLICE_BYTES);
  });
}

test("a message of short texts is sliced too", () => {
  const messages = Array.from({ length: 10_000 }, (_, at) => ({ content: `message ${at}`, timestamp: new Date(at) }));
  const message = GetConversationResponse.fromPartial({ conversation: { transcript: { messages } } });
  const made = [...sliceMessage(GetConversationResponse, message).slices];
  expect(Buffer.concat(made).equals(Buffer.from(GetConversationResponse.encode(message).finish()))).toBeTrue();
  expect(made.length).toBeGreaterThan(1);
});
