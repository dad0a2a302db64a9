import { expect, test } from "bun:test";
import { LINES } from "../../src/turn/settings.ts";
import { complete, fakeConversations, says, words } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";
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
  expect(conversations.lines.at(-1)).toBe(`assistant: ${LINES.not_transferred}`);
});
