import { expect, test } from "bun:test";
import {
  ConversationServiceService,
  GetConversationResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { silentLogger } from "@parley/shared/log";
import type { Call } from "@parley/shared/rpc/call";
import { createClient } from "@parley/shared/rpc/client";
import { ownerCalls } from "@parley/shared/rpc/owner-calls";
import { type Registration, registered } from "@parley/shared/rpc/registration";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";

const GET = "/parley.conversation.v1.ConversationService/GetConversation";
const TURN = "/parley.conversation.v1.ConversationService/CompleteTurn";

const callOf = (signal = new AbortController().signal) => ({ signal }) as Call;

test("an owner's seventh call waits for its first to end, and another owner's does not", async () => {
  const enter = ownerCalls();
  const entered = Array.from({ length: 7 }, () => enter(GET, { ownerId: "own_1" }, callOf()));
  expect(entered.map((share) => share instanceof Promise)).toEqual([...Array(6).fill(false), true]);
  expect(enter(GET, { ownerId: "own_2" }, callOf())).not.toBeInstanceOf(Promise);
  const [first] = await Promise.all(entered.slice(0, 6));
  first?.release();
  expect(await entered[6]).toMatchObject({ bytes: 1 });
});

test("an owner's third list waits for its first to end, and neither its other calls nor another owner's lists do", async () => {
  const enter = ownerCalls();
  const entered = Array.from({ length: 3 }, () => enter(GET, { ownerId: "own_1" }, callOf(), true));
  expect(entered.map((share) => share instanceof Promise)).toEqual([false, false, true]);
  expect(enter(GET, { ownerId: "own_1" }, callOf())).not.toBeInstanceOf(Promise);
  expect(await enter(GET, { ownerId: "own_2" }, callOf(), true)).toMatchObject({ bytes: 1 });
  (await entered[0])?.release();
  expect(await entered[2]).toMatchObject({ bytes: 1 });
});

test("a call that waits is cancelled with its caller and takes no place", async () => {
  const enter = ownerCalls();
  const served = Array.from({ length: 6 }, () => enter(GET, { ownerId: "own_1" }, callOf()));
  const gone = new AbortController();
  const waiting = enter(GET, { ownerId: "own_1" }, callOf(gone.signal));
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ kind: "cancelled" });
  for (const share of served) (await share)?.release();
  expect(enter(GET, { ownerId: "own_1" }, callOf())).not.toBeInstanceOf(Promise);
});

test("turns, which last as long as the model speaks, do not count", () => {
  const enter = ownerCalls();
  const turns = Array.from({ length: 20 }, () => enter(TURN, { turn: { ownerId: "own_1" } }, callOf()));
  expect(turns).toEqual(Array(20).fill(null));
});

/** Serves eight calls of one owner at once, until at least so many have begun. @returns how many begin before one has ended */
async function begunAtOnce(registration: Registration, least: number): Promise<number> {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  const getConversation = async () => {
    begun++;
    await end;
    return GetConversationResponse.fromPartial({});
  };
  const getChatSession = async () => ({ session: undefined });
  const server = await serve(
    ConversationServiceService,
    { getConversation: registered(getConversation, registration), getChatSession },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  const client = createClient(ConversationServiceService, {
    peer: "conversation",
    address: server.address,
    timeoutMs: 60_000,
  });
  const key = { ownerId: "own_1", conversationId: "c" };
  const calls = Array.from({ length: 8 }, () => client.getConversation(key));
  await eventually(() => expect(begun).toBeGreaterThanOrEqual(least));
  // This call follows them on the same connection.
  await client.getChatSession({ ownerId: "own_2", sessionId: "s" });
  const atOnce = begun;
  resolve();
  await Promise.all(calls);
  client.close();
  await server.stop();
  return atOnce;
}

test("an RPC registered with shares of its own does not wait for other calls", async () => {
  expect(await begunAtOnce({ hasOwnShares: true }, 8)).toBe(8);
  expect(await begunAtOnce({}, 6)).toBe(6);
  expect(await begunAtOnce({ isList: true }, 2)).toBe(2);
});
