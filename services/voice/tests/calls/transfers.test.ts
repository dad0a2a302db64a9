import { expect, test } from "bun:test";
import type { CallSignal } from "../../src/call/signals.ts";
import { LINES } from "../../src/turn/settings.ts";
import { complete, fakeConversations, says, words } from "../kit/fake-conversations.ts";
import { settle } from "../kit/fake-time.ts";
import { newCall, REQUEST } from "../kit/scripted-call.ts";
import { FAR_END } from "../media-stream/carrier.ts";

const transferTo = (phoneNumber: string) => ({
  $case: "action" as const,
  value: { action: { $case: "transferCall" as const, value: { phoneNumber } } },
});

test("a transfer follows the last word, and its number is noted", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [words("One moment, please."), transferTo("+14155550199"), complete];
  const call = await newCall({ conversations });
  await call.asks("A person, please.");
  expect(call.leg.transfers).toEqual([]);
  await call.time.pass(2_000);
  expect(call.leg.transfers).toEqual(["+14155550199"]);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "Transferred to +14155550199" });
  expect(call.transfers).toEqual(["blind accepted +14155550199"]);
  // If this process dies now, nobody hangs up on those who talk.
  expect(call.farEnds).toEqual([FAR_END, null]);
});

test("a transfer whose leg ends before it is confirmed is noted all the same", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [transferTo("+14155550199"), words("One moment, please."), complete];
  const call = await newCall({ conversations, transfer: "ends" });
  await call.asks("A person, please.");
  await call.time.pass(2_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "Transferred to +14155550199" });
  expect(call.transfers).toEqual(["blind accepted +14155550199"]);
});

/** A call that is told this while its transfer is in progress. */
async function toldDuringTransfer(signal: CallSignal) {
  const conversations = fakeConversations();
  conversations.script = () => [transferTo("+14155550199"), words("One moment, please."), complete];
  const confirmed = Promise.withResolvers<void>();
  const call = await newCall({ conversations, transfer: confirmed.promise });
  await call.asks("A person, please.");
  await call.time.pass(2_000);
  call.all.signal({ ownerId: REQUEST.ownerId, conversationId: call.conversationId }, signal);
  await settle();
  return { ...call, confirm: confirmed.resolve };
}

test("a transfer is noted whose carrier reports the end of the call before it confirms the transfer", async () => {
  const call = await toldDuringTransfer("carrier_ended");
  expect(call.leg.hungUp).toBe(false);
  call.confirm();
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "Transferred to +14155550199" });
});

test("an owner who hangs up a call does not wait for its transfer", async () => {
  const call = await toldDuringTransfer("hang_up");
  expect(call.leg.hungUp).toBe(true);
  expect(await call.ended).toMatchObject({ notes: null });
  call.confirm();
});

test("after a transfer fails, the agent says so and the call continues", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [transferTo("+14155550199"), words("One moment, please."), complete];
  const call = await newCall({ conversations, transfer: "fails" });
  await call.asks("A person, please.");
  await call.time.pass(6_000);
  conversations.script = says("We open at nine.");
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual([
    "user: A person, please.",
    "assistant: One moment, please.",
    `assistant: ${LINES.not_transferred}`,
    "user: When do you open?",
    "assistant: We open at nine.",
  ]);
  expect(call.transfers).toEqual(["blind failed +14155550199"]);
  expect(call.farEnds).toEqual([FAR_END, null, FAR_END]);
});

test("a caller who talks the model into it is not transferred to a number that agents may not call", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [transferTo("+19005550123"), words("One moment, please."), complete];
  const call = await newCall({ conversations });
  await call.asks("My doctor's number is 900 555 0123.");
  await call.time.pass(6_000);
  expect(call.leg.transfers).toEqual([]);
  expect(call.leg.hungUp).toBe(false);
  expect(call.transfers).toEqual(["blind failed +19005550123"]);
  expect(conversations.lines.at(-1)).toBe(`assistant: ${LINES.not_transferred}`);
});
