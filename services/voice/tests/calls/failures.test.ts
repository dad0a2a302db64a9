import { expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { LINES } from "../../src/turn/settings.ts";
import { fakeConversations, says, words } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";
import { scriptedVoice, WORD_MS } from "../kit/scripted-speech.ts";

test("the caller hears one apology while the conversation service is down, and the call continues when it is back", async () => {
  const call = await newCall();
  call.conversations.away = true;
  await call.asks("When do you open?");
  await call.time.pass(4_000);
  expect(call.voice.said).toEqual([`${LINES.delay} `]);
  call.conversations.away = false;
  await call.time.pass(5_000);
  expect(call.conversations.lines).toEqual(["user: When do you open?", `assistant: ${LINES.delay} We open at nine.`]);
  await call.asks("And on Sunday?");
  await call.time.pass(3_000);
  expect(call.conversations.lines).toHaveLength(4);
});

test("patience is asked for also while an earlier answer cannot be stored", async () => {
  const conversations = fakeConversations();
  conversations.script = says("We open at nine in the morning, and on Sundays at ten. Do come and see us.");
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  conversations.away = true;
  await call.asks("And when do you close?");
  await call.time.pass(3_500);
  expect(call.voice.said.at(-1)).toBe(`${LINES.delay} `);
  conversations.away = false;
  await call.time.pass(12_000);
  expect(conversations.lines.map((line) => line.split(":")[0])).toEqual(["user", "assistant", "user", "assistant"]);
  expect(conversations.lines[3]).toStartWith(`assistant: ${LINES.delay} We open`);
});

test("an answer whose stream breaks in the middle is spoken as far as it arrived, stored, and not requested again", async () => {
  const conversations = fakeConversations();
  conversations.script = async function* () {
    yield words("We open at nine. ");
    conversations.away = true;
    throw new ServiceError("unavailable", "gone");
  };
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(3_000);
  conversations.away = false;
  await call.time.pass(3_000);
  expect(conversations.lines).toEqual(["user: When do you open?", "assistant: We open at nine."]);
  expect(conversations.asked).toHaveLength(1);
});

test("a model that fails is apologized for once, and a second time ends the call as failed", async () => {
  const conversations = fakeConversations();
  conversations.script = () => {
    throw new ServiceError("upstream_failed", "The model failed");
  };
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(4_000);
  await call.asks("When do you open?");
  await call.time.pass(8_000);
  expect(call.voice.said).toEqual([LINES.retry, LINES.apology]);
  expect(await call.ended).toMatchObject({ outcome: "ERROR", notes: "The model failed" });
});

test("a voice that says nothing ends the call as failed within 15 s, without an apology in the same voice", async () => {
  const call = await newCall({ voice: scriptedVoice(() => "stall") });
  await call.asks("When do you open?");
  await call.time.pass(15_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
  expect(call.conversations.lines).toEqual(["user: When do you open?"]);
  expect(call.voice.said).toEqual(["We open at nine."]);
});

test("a voice that stalls within a reply ends the call 15 s after the last sound", async () => {
  const conversations = fakeConversations();
  conversations.script = says("We open at nine in the morning. On Sundays at ten.");
  const call = await newCall({
    conversations,
    voice: scriptedVoice((text) => (text.includes("Sundays") ? "stall" : null)),
  });
  await call.asks("When do you open?");
  await call.time.pass(7 * WORD_MS + 15_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
  expect(conversations.lines).toEqual(["user: When do you open?", "assistant: We open at nine in the morning."]);
});

test("a model that gives the voice nothing to say for 15 s is excused by the voice, which works", async () => {
  const conversations = fakeConversations();
  const { promise: stalled, resolve: goOn } = Promise.withResolvers<void>();
  conversations.script = async function* () {
    yield words("```\nconst open = 9;\n");
    await stalled;
  };
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(22_000);
  goOn();
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
  expect(call.voice.said).toEqual([LINES.apology]);
});

test("a greeting in a voice that says nothing ends the call within 15 s", async () => {
  const call = await newCall({
    conversations: fakeConversations({ greeting: "Hello!" }),
    voice: scriptedVoice(() => "stall"),
  });
  await call.time.pass(15_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
});

test("a model that fails and a voice that then says nothing end the call 15 s after the question", async () => {
  const conversations = fakeConversations();
  conversations.script = () => {
    throw new ServiceError("upstream_failed", "the model is down");
  };
  const call = await newCall({ conversations, voice: scriptedVoice(() => "stall") });
  await call.asks("When do you open?");
  await call.time.pass(15_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
});

test("an internal error in one call ends only that call, as failed", async () => {
  const voice = scriptedVoice();
  const other = await newCall();
  const call = await newCall({
    voice: {
      ...voice,
      speak: () => {
        throw new Error("a bug");
      },
    },
  });
  await call.asks("When do you open?");
  expect(await call.ended).toMatchObject({ outcome: "ERROR", notes: "An unexpected error" });
  expect(call.leg.hungUp).toBe(true);
  expect(call.live).toEqual({ taken: 1, released: 1, abandoned: 0 });
  await other.asks("When do you open?");
  await other.time.pass(2_000);
  expect(other.conversations.lines).toHaveLength(2);
});

test("speech recognition that gives up ends the call with an apology and its reason", async () => {
  const call = await newCall();
  call.hearing.report({
    type: "failed",
    error: new ServiceError("upstream_failed", "The STT provider refused the key"),
  });
  await call.time.pass(5_000);
  expect(call.voice.said).toEqual([LINES.apology]);
  expect(await call.ended).toMatchObject({ outcome: "ERROR", notes: "The STT provider refused the key" });
});

test("an agent's own silence setting ends the turn, and its own apology ends the call", async () => {
  const callSettings = { end_of_turn_silence_ms: 2_000, apology: "We are sorry." };
  const call = await newCall({ conversations: fakeConversations({ callSettings }) });
  await call.asks("when do you open");
  expect(call.conversations.asked).toEqual([]);
  await call.time.pass(1_500);
  expect(call.conversations.asked).toEqual(["when do you open"]);
  call.hearing.report({ type: "failed", error: new ServiceError("upstream_failed", "gone") });
  await call.time.pass(3_000);
  expect(call.voice.said.at(-1)).toBe("We are sorry.");
});
