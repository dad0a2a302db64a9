import { expect, test } from "bun:test";
import { serviceErrorOf } from "@parley/testkit/failures";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";

test("a machine that answers hears nothing but the agent's message, after its own greeting", async () => {
  const conversations = fakeConversations({
    greeting: "Hello, this is the front desk with news.",
    callSettings: { voicemail_message: "Please call us back." },
  });
  const call = await newCall({ conversations, request: { leavesMessage: true } });
  await call.time.pass(500);
  call.machine("machine_answered");
  await call.asks("Nobody is at home. Please leave a message.");
  expect(conversations.asked).toEqual([]);
  call.machine("machine_ready");
  await call.time.pass(3_000);
  expect(conversations.lines.at(-1)).toBe("assistant: Please call us back.");
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "The agent left a message on the voicemail" });
  expect(call.leg.hungUp).toBe(true);
});

test("the message is left 15 s after a machine answered, if it is not reported as ready", async () => {
  const conversations = fakeConversations({ callSettings: { voicemail_message: "Please call us back." } });
  const call = await newCall({ conversations, request: { leavesMessage: true } });
  call.machine("machine_answered");
  await call.time.pass(14_000);
  expect(call.voice.said).toEqual([]);
  await call.time.pass(4_000);
  expect(conversations.lines).toEqual(["assistant: Please call us back."]);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
});

test("a machine that is ready before its call is connected hears the message at once", async () => {
  const conversations = fakeConversations({ callSettings: { voicemail_message: "Please call us back." } });
  const answers = Promise.withResolvers<void>();
  const call = await newCall({ conversations, request: { leavesMessage: true }, connect: () => answers.promise });
  // The carrier's reports may arrive in any order.
  call.machine("machine_ready");
  call.machine("machine_answered");
  answers.resolve();
  await call.time.pass(3_000);
  expect(conversations.lines).toEqual(["assistant: Please call us back."]);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
});

test("a machine is hung up on, as if nobody had answered, when there is no message to leave", async () => {
  const conversations = fakeConversations({ callSettings: { voicemail_message: "Please call us back." } });
  const call = await newCall({ conversations });
  call.machine("machine_answered");
  expect(await call.ended).toMatchObject({ outcome: "NO_ANSWER", notes: "A voicemail answered" });
  expect(call.leg.hungUp).toBe(true);
  expect(call.voice.said).toEqual([]);
});

test("a machine that hangs up before the message ends has no message", async () => {
  const conversations = fakeConversations({ greeting: "Hello.", callSettings: { voicemail_message: "Please call." } });
  const call = await newCall({ conversations, request: { leavesMessage: true } });
  await call.time.pass(1_000);
  call.machine("machine_answered");
  await call.leaves();
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY" });
});

test("a call whose agent must leave a message but has none is refused", async () => {
  expect(await serviceErrorOf(newCall({ request: { leavesMessage: true } }))).toMatchObject({
    kind: "condition",
    detail: "Agent has no voicemail message: set call_settings.voicemail_message",
  });
});
