import { expect, test } from "bun:test";
import type { ToolRules } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { complete, fakeConversations, words } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";
import { WORD_MS } from "../kit/scripted-speech.ts";

const RULES: ToolRules = {
  timeoutMs: 60_000,
  isCancellable: false,
  isBackground: false,
  before: "One moment please.",
  delayed: [],
};

const IDLE = { tools: { user_idle: { timeout_seconds: 5, max_reminders: 1, message: "Are you there?" } } };

/** A call whose model looks an order up, and then answers. */
async function lookingUp(rules: Partial<ToolRules> = {}, setup: object = {}) {
  const conversations = fakeConversations(setup);
  const result = Promise.withResolvers<void>();
  const started = { toolCallId: "tcl_1", name: "look_up", rules: { ...RULES, ...rules } };
  conversations.script = async function* (turn) {
    if (turn.answersResults) return yield* [words("Your order comes on Monday."), complete];
    if (conversations.asked.length > 1) return yield* [words("At nine."), complete];
    yield { $case: "toolStarted", value: started };
    if (!started.rules.isBackground) {
      await result.promise;
      yield { $case: "toolEnded", value: { toolCallId: "tcl_1" } };
      yield words("It comes on Monday.");
    } else {
      yield words("I am looking.");
    }
    yield complete;
  };
  const call = await newCall({ conversations });
  await call.asks("Where is my order?");
  return { ...call, asks: call.asks.bind(call), conversations, arrives: result.resolve };
}

test("a caller hears the filler of a tool that runs, then the answer, and the filler is reported as one", async () => {
  const call = await lookingUp();
  await call.time.pass(3_000);
  expect(call.voice.said.map((text) => text.trim())).toEqual(["One moment please."]);
  call.arrives();
  await call.time.pass(5_000);
  expect(call.conversations.lines).toEqual([
    "user: Where is my order?",
    "assistant: One moment please. It comes on Monday.",
  ]);
  expect(call.conversations.fillers).toEqual([["One moment please."]]);
});

test("nobody is reminded while a tool runs for 30 s, although the caller is idle after 5 s", async () => {
  const call = await lookingUp({}, IDLE);
  await call.time.pass(30_000);
  expect(call.voice.said.map((text) => text.trim())).toEqual(["One moment please."]);
  call.arrives();
  await call.time.pass(4_000);
  expect(call.voice.said).toHaveLength(1);
  await call.time.pass(4_000);
  expect(call.voice.said.at(-1)).toBe("Are you there?");
});

test.each([
  ["in the middle of the filler", 2 * WORD_MS],
  ["after the filler, before the first word", 3_000],
])("a caller who interrupts %s is answered, and the result of the tool is told afterwards, once", async (_when, ms) => {
  const call = await lookingUp();
  await call.time.pass(ms);
  await call.asks("And when do you open?");
  await call.time.pass(1_000);
  expect(call.conversations.lines.at(-1)).not.toContain("Monday");
  call.conversations.endTools("tcl_1");
  await call.time.pass(8_000);
  expect(call.conversations.lines.slice(-2)).toEqual(["assistant: At nine.", "assistant: Your order comes on Monday."]);
  expect(call.conversations.asked).toEqual(["Where is my order?", "And when do you open?", "(results)"]);
});

test("a caller who interrupts 50 ms after the result hears no more of that answer", async () => {
  const call = await lookingUp({ before: undefined });
  call.arrives();
  await call.time.pass(50);
  await call.asks("And when do you open?");
  await call.time.pass(8_000);
  expect(call.conversations.asked).toEqual(["Where is my order?", "And when do you open?"]);
  expect(call.conversations.lines.at(-1)).toBe("assistant: At nine.");
});

test("a result from the background is told at the first pause, once", async () => {
  const call = await lookingUp({ isBackground: true });
  await call.time.pass(300);
  call.conversations.endTools("tcl_1");
  await call.time.pass(10_000);
  expect(call.conversations.lines).toEqual([
    "user: Where is my order?",
    "assistant: I am looking.",
    "assistant: Your order comes on Monday.",
  ]);
  expect(call.conversations.asked).toEqual(["Where is my order?", "(results)"]);
});
