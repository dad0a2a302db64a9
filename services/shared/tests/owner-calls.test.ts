import { expect, test } from "bun:test";
import type { Call } from "@parley/shared/rpc/call";
import { ownerCalls } from "@parley/shared/rpc/owner-calls";

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

test("turns, which last as long as a model speaks, have no share here", () => {
  const enter = ownerCalls();
  const turns = Array.from({ length: 20 }, () => enter(TURN, { turn: { ownerId: "own_1" } }, callOf()));
  expect(turns).toEqual(Array(20).fill(null));
});
