import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import {
  ConversationServiceService,
  GetConversationResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Call } from "../src/rpc/call.ts";
import { createClient, type ServiceClient } from "../src/rpc/client.ts";
import { registered } from "../src/rpc/registration.ts";
import { type RunningServer, serve } from "../src/rpc/server.ts";
import { failureOf } from "../src/testing/failures.ts";
import { recordLog } from "../src/testing/recorded-log.ts";

const TEXTS: Readonly<Record<string, string>> = {
  short: "short",
  long: "a long reply, ".repeat(600_000),
  longest: "x".repeat(40_000_000),
};

let server: RunningServer;
let client: ServiceClient<typeof ConversationServiceService>;
let calls: Call[] = [];
const { log, lines } = recordLog("warn");

const answer = (text: string) =>
  GetConversationResponse.fromPartial({ conversation: { transcript: { messages: [{ content: TEXTS[text] ?? "" }] } } });

beforeAll(async () => {
  const getConversation = async ({ conversationId }: { conversationId: string }, call: Call) => {
    calls.push(call);
    return answer(conversationId);
  };
  server = await serve(
    ConversationServiceService,
    { getConversation: registered(getConversation, { largeResponse: GetConversationResponse }) },
    { address: "127.0.0.1:0", drainMs: 100, log },
  );
  client = createClient(ConversationServiceService, { peer: "conversation", address: server.address });
});

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

test("a large response is put together as it arrives, not all at once at its end", async () => {
  using concat = spyOn(Buffer, "concat");
  expect(await get("own_a", "long")).toEqual(answer("long"));
  const joined = concat.mock.results.map(({ value }) => (value as Buffer).length);
  expect(Math.max(...joined)).toBeLessThan(256 * 1024);
});

test("an owner's large responses do not delay another owner's small ones on the same connection", async () => {
  const ended: string[] = [];
  const tell = (what: string) => () => ended.push(what);
  const long = Array.from({ length: 4 }, () => get("own_a", "long").then(tell("long")));
  for (let at = 0; at < 5; at++) await get("own_b", "short").then(tell("short"));
  await Promise.all(long);
  expect(ended.slice(0, 5)).toEqual(Array(5).fill("short"));
});

test("a caller that leaves ends the large response being sent, and nothing fails", async () => {
  calls = [];
  const gone = new AbortController();
  const asked = failureOf(get("own_a", "long", gone.signal));
  while (calls.length === 0) await new Promise(setImmediate);
  gone.abort();
  expect(await asked).toMatchObject({ kind: "cancelled" });
  await new Promise<void>((resolve) => calls[0]?.onSent(resolve));
  expect(await get("own_b", "short")).toEqual(answer("short"));
  expect(lines).toEqual([]);
});

test("a response that its caller has no room for fails the call and is not read", async () => {
  const told: number[] = [];
  const onAnswer = (bytes: number) => {
    told.push(bytes);
    return false;
  };
  const asked = client.getConversation(
    { ownerId: "own_a", conversationId: "long" },
    { origin: { requestId: "r", onAnswer } },
  );
  expect(await failureOf(asked)).toMatchObject({ kind: "rate_limited", retryAfterMs: 1_000 });
  expect(told).toHaveLength(1);
});
