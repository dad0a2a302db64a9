import { expect, test } from "bun:test";
import { EndedBy, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { serviceErrorOf } from "@parley/testkit/failures";
import { fakeConversations, says } from "../kit/fake-conversations.ts";
import { type FakeTime, fakeTime } from "../kit/fake-time.ts";
import { newCall, REQUEST } from "../kit/scripted-call.ts";

test("when a user leaves in the middle of an answer, what was heard is stored", async () => {
  const conversations = fakeConversations({ greeting: "Front desk, how can I help?" });
  const call = await newCall({ conversations });
  await call.time.pass(410);
  await call.leaves();
  await call.time.pass(100);
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY" });
  expect(conversations.lines).toEqual(["assistant: Front desk,"]);
  expect(conversations.completed).toMatchObject([
    { outcome: Outcome.OUTCOME_HUNG_UP_EARLY, endedBy: EndedBy.ENDED_BY_USER },
  ]);
});

test("a silent caller is reminded in the agent's words, and the call ends after the last reminder", async () => {
  const tools = { user_idle: { timeout_seconds: 5, max_reminders: 1, message: "Hello? Anybody there?" } };
  const call = await newCall({ conversations: fakeConversations({ tools }) });
  await call.asks("When do you open?");
  await call.time.pass(8_000);
  expect(call.voice.said).toEqual(["We open at nine.", "Hello? Anybody there?"]);
  await call.time.pass(8_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "The user stayed silent" });
  expect(call.leg.hungUp).toBe(true);
});

test("a call on hold waits, hears no music, and continues with the reply where it was", async () => {
  const tools = { user_idle: { timeout_seconds: 5, max_reminders: 1 } };
  const conversations = fakeConversations({ tools });
  const text = "We open at nine in the morning, and on Sundays at ten.";
  conversations.script = says(text);
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(500);
  call.leg.hold(true);
  await call.asks("La la la, love is all we need.");
  await call.time.pass(120_000);
  expect(call.leg.hungUp).toBe(false);
  call.leg.hold(false);
  await call.time.pass(4_000);
  expect(call.voice.said).toEqual([text]);
  conversations.script = says("You are welcome.");
  await call.asks("Thank you very much, that helps.");
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual([
    "user: When do you open?",
    `assistant: ${text}`,
    "user: Thank you very much, that helps.",
    "assistant: You are welcome.",
  ]);
  call.leg.hold(true);
  await call.time.pass(600_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "The user stayed silent" });
});

test("a call is hung up when its longest duration is over, and is complete", async () => {
  const conversations = fakeConversations({});
  const call = await newCall({ conversations, request: { maxDurationSeconds: 20 } });
  await call.asks("When do you open?");
  await call.time.pass(18_000);
  expect(call.leg.hungUp).toBe(false);
  await call.time.pass(2_000);
  expect(call.leg.hungUp).toBe(true);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", durationSeconds: 20 });
  expect(conversations.completed).toMatchObject([{ endedBy: EndedBy.ENDED_BY_SYSTEM }]);
});

test("a call without a limit of its own is hung up after four hours", async () => {
  const time = fakeTime();
  const waits = new Map<number, () => void>();
  const after: FakeTime["after"] = (ms, run) => {
    waits.set(ms, run);
    return time.after(ms, run);
  };
  const call = await newCall({ time: { ...time, after } });
  await call.asks("When do you open?");
  waits.get(4 * 3_600_000)?.();
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(call.leg.hungUp).toBe(true);
});

test("a call that cannot be completed is left to others", async () => {
  const call = await newCall();
  call.conversations.away = true;
  await call.leaves();
  await call.time.pass(200_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(call.live).toEqual({ taken: 1, released: 0, abandoned: 1 });
});

test("a stopping process takes no calls, lets calls in progress end, and ends the rest", async () => {
  const call = await newCall();
  call.stopping.abort();
  const refused = await serviceErrorOf(call.all.start(REQUEST, () => Promise.reject(new Error("not asked"))));
  expect(refused.kind).toBe("unavailable");
  const drained = call.all.drain(5_000);
  await call.time.pass(5_100);
  await drained;
  expect(await call.ended).toMatchObject({ outcome: "ERROR", notes: "The voice service stopped" });
  expect(call.leg.hungUp).toBe(true);
});

test("what the user was saying when the process stops is stored", async () => {
  const call = await newCall();
  call.speaks("I would like to");
  const drained = call.all.drain(100);
  await call.time.pass(200);
  await drained;
  expect(call.conversations.lines).toEqual(["user: I would like to"]);

  const left = await newCall();
  left.speaks("I would like to");
  left.conversations.away = true;
  await left.leaves();
  const drainedToo = left.all.drain(100);
  await left.time.pass(200);
  left.conversations.away = false;
  await left.time.pass(10_000);
  await drainedToo;
  expect(left.conversations.lines).toEqual(["user: I would like to"]);
});
