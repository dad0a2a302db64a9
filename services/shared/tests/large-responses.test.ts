import { afterAll, expect, test } from "bun:test";
import {
  ConversationServiceService,
  GetConversationResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { failureOf } from "@parley/testkit/failures";
import { recordLog } from "@parley/testkit/recorded-log";
import type { Call } from "../src/rpc/call.ts";
import { createClient } from "../src/rpc/client.ts";
import { serve } from "../src/rpc/server.ts";

const TEXTS: Readonly<Record<string, string>> = {
  short: "short",
  long: "a long reply, ".repeat(600_000),
  longest: "x".repeat(40_000_000),
};

let calls: Call[] = [];
const { log, lines } = recordLog("warn");

const answer = (text: string) =>
  GetConversationResponse.fromPartial({ conversation: { transcript: { messages: [{ content: TEXTS[text] ?? "" }] } } });

const getConversation = async ({ conversationId }: { conversationId: string }, call: Call) => {
  calls.push(call);
  return answer(conversationId);
};
const server = await serve(
  ConversationServiceService,
  { getConversation },
  { address: "127.0.0.1:0", drainMs: 100, log },
);
const client = createClient(ConversationServiceService, { peer: "conversation", address: server.address });

afterAll(async () => {
  client.close();
  await server.stop();
});

const get = (ownerId: string, conversationId: string, signal?: AbortSignal) =>
  client.getConversation({ ownerId, conversationId }, { origin: { requestId: "r", signal }, timeoutMs: 30_000 });

test("a large response arrives whole, of 40 MB too", async () => {
  expect(await get("own_a", "long")).toEqual(answer("long"));
  expect(await get("own_a", "longest")).toEqual(answer("longest"));
});

test("a caller that leaves ends the large response being sent, and nothing fails", async () => {
  calls = [];
  const gone = new AbortController();
  const asked = failureOf(get("own_a", "long", gone.signal));
  while (calls.length === 0) await new Promise(setImmediate);
  gone.abort();
  expect(await asked).toMatchObject({ kind: "cancelled" });
  expect(await get("own_b", "short")).toEqual(answer("short"));
  expect(lines).toEqual([]);
});
