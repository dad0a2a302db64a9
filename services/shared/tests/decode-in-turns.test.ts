import { expect, test } from "bun:test";
import {
  ConversationServiceService,
  ListConversationsResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { decodeInTurns } from "../src/rpc/client/decode-in-turns.ts";

const KIB = 1024;

const method = ConversationServiceService.listConversations;

/** A page of this many conversations, each of this many characters. */
function pageOf(items: number, characters: number) {
  return ListConversationsResponse.fromPartial({
    conversations: Array.from({ length: items }, (_, at) => ({
      conversationId: `c${at}`,
      metadata: { at },
      createdAt: new Date(at * 1_000),
      transcript: { messages: [{ content: `${at}`.repeat(characters) }] },
    })),
    total: 1_000,
  });
}

/** Decodes the page, and counts the bytes decoded in each turn. */
async function decoded(page: ListConversationsResponse) {
  const turns: number[] = [];
  const responseDeserialize = (bytes: Buffer) => {
    if (turns.length > 0) turns[turns.length - 1] = bytes.length;
    return method.responseDeserialize(bytes);
  };
  const bytes = Buffer.from(ListConversationsResponse.encode(page).finish());
  const message = await decodeInTurns({ responseDeserialize }, bytes, async () => void turns.push(0));
  return { message, turns };
}

test("a long page is decoded as a whole, in turns of at most 64 KiB", async () => {
  const page = pageOf(100, 5 * KIB);
  const { message, turns } = await decoded(page);
  expect(message).toEqual(page);
  expect(turns.length).toBeGreaterThan(8);
  expect(Math.max(...turns)).toBeLessThanOrEqual(64 * KIB);
});

test("each longer item has a turn of its own", async () => {
  const page = pageOf(3, 200 * KIB);
  const { message, turns } = await decoded(page);
  expect(message).toEqual(page);
  expect(turns.length).toBe(4);
});

test("what comes before and after the items is kept", async () => {
  const rest = ListConversationsResponse.encode(ListConversationsResponse.fromPartial({ total: 7 })).finish();
  const page = ListConversationsResponse.encode({ ...pageOf(50, 5 * KIB), total: 0 }).finish();
  const inTurns = (bytes: Buffer) => decodeInTurns(method, bytes, async () => {});
  expect(await inTurns(Buffer.concat([rest, page]))).toMatchObject({ total: 7 });
  expect(await inTurns(Buffer.concat([page, rest]))).toMatchObject({ total: 7 });
});

test("bytes that are not a message are an internal error", async () => {
  const broken = Buffer.alloc(100_000, 0xff);
  await expect(decodeInTurns(method, broken, async () => {})).rejects.toMatchObject({ kind: "internal" });
});
