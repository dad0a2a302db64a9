import { expect, test } from "bun:test";
import type { ToolRules } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { soundOf } from "../../src/background/sounds.ts";
import type { CallClient } from "../../src/call/port.ts";
import { complete, fakeConversations, words } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";
import { WORD_MS } from "../kit/scripted-speech.ts";
import { scriptedSts } from "../kit/scripted-sts.ts";

const RULES: ToolRules = {
  timeoutMs: 60_000,
  isCancellable: false,
  isBackground: false,
  before: "One moment please.",
  delayed: [],
  sound: undefined,
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

test("a caller hears the sound of a tool while it runs, not behind the agent's words, and none that nobody knows", async () => {
  await soundOf("typing");
  for (const [sound, isHeard] of [
    ["typing", true],
    ["waterfall", false],
  ] as const) {
    const call = await lookingUp({ before: undefined, sound });
    await call.time.pass(5_000);
    expect(call.leg.sent.slice(-200).some((frame) => frame?.some((sample) => sample !== 0))).toBe(isHeard);
    call.arrives();
    await call.time.pass(600);
    const [spoken] = call.leg.sent.slice(-1);
    expect(spoken?.every((sample) => sample === spoken[0])).toBeTrue();
    expect(call.conversations.lines).toHaveLength(1);
  }
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

test("the result of a tool that begins just as the caller interrupts is told afterwards, once", async () => {
  const conversations = fakeConversations();
  const never = Promise.withResolvers<void>().promise;
  conversations.script = async function* (turn) {
    if (turn.answersResults) return yield* [words("Your order comes on Monday."), complete];
    if (conversations.asked.length > 1) return yield* [words("At nine."), complete];
    yield words("Let me look.");
    await never;
  };
  conversations.late = [{ $case: "toolStarted", value: { toolCallId: "tcl_1", name: "look_up", rules: RULES } }];
  const call = await newCall({ conversations });
  await call.asks("Where is my order?");
  await call.asks("And when do you open?");
  await call.time.pass(3_000);
  conversations.endTools("tcl_1");
  await call.time.pass(8_000);
  expect(conversations.lines.at(-1)).toBe("assistant: Your order comes on Monday.");
  expect(conversations.asked).toEqual(["Where is my order?", "And when do you open?", "(results)"]);
});

test("a result from the background is told at the first pause, however long a call before it still runs", async () => {
  const conversations = fakeConversations();
  const rules = { ...RULES, isBackground: true };
  conversations.script = function* (turn) {
    if (turn.answersResults) return yield* [words("The second one is done."), complete];
    const toolCallId = `tcl_${conversations.asked.length}`;
    yield { $case: "toolStarted", value: { toolCallId, name: "look_up", rules } };
    yield* [words("I am looking."), complete];
  };
  const call = await newCall({ conversations });
  for (const words of ["Where is the first one?", "And the second one?"]) {
    await call.asks(words);
    await call.time.pass(3_000);
  }
  conversations.endTools("tcl_2");
  await call.time.pass(5_000);
  expect(conversations.lines.at(-1)).toBe("assistant: The second one is done.");
});

/** The page of a call that makes calls, or has gone. */
function scriptedClient() {
  const handed: string[] = [];
  const refused: string[] = [];
  let to: Parameters<CallClient["listen"]>[0] | null = null;
  const client: CallClient = {
    isThere: () => true,
    hand: ({ toolCallId }) => handed.push(toolCallId) > 0,
    refuse: (toolCallId) => void refused.push(toolCallId),
    listen: (listener) => {
      to = listener;
    },
  };
  const gives = (result: string) => to?.gave({ toolCallId: "tcl_1", result, isError: false });
  return { client, handed, refused, gives, leaves: () => to?.left() };
}

/** A call whose model shows the seats, which the client does, and then answers. */
async function showingSeats(rules: Partial<ToolRules> = {}) {
  const conversations = fakeConversations(IDLE);
  const page = scriptedClient();
  const result = Promise.withResolvers<void>();
  conversations.gave = () => {
    result.resolve();
    conversations.endTools("tcl_1");
  };
  conversations.script = async function* (turn) {
    if (turn.answersResults) return yield* [words("You have seat 14C."), complete];
    if (conversations.asked.length > 1 || !turn.clientTools) return yield* [words("At nine."), complete];
    yield {
      $case: "clientCall",
      value: { toolCallId: "tcl_1", name: "show_seats", arguments: "{}", wait: true, timeoutMs: 20_000 },
    };
    yield { $case: "toolStarted", value: { toolCallId: "tcl_1", name: "show_seats", rules: { ...RULES, ...rules } } };
    await result.promise;
    yield { $case: "toolEnded", value: { toolCallId: "tcl_1" } };
    yield* [words("14C is yours."), complete];
  };
  const call = await newCall({ conversations, request: { client: page.client } });
  await call.asks("Which seat is mine?");
  return { ...call, asks: call.asks.bind(call), conversations, page };
}

test("a call of a client tool is handed to the page, a filler is spoken, nobody is reminded, and its result is answered", async () => {
  const call = await showingSeats();
  await call.time.pass(30_000);
  expect(call.page.handed).toEqual(["tcl_1"]);
  expect(call.voice.said.map((text) => text.trim())).toEqual(["One moment please."]);
  call.page.gives("14C");
  await call.time.pass(3_000);
  expect(call.conversations.given).toEqual(["tcl_1: 14C"]);
  expect(call.conversations.lines.at(-1)).toBe("assistant: One moment please. 14C is yours.");
});

test("a caller who interrupts a client's call is answered, and its result is told afterwards, once", async () => {
  const call = await showingSeats();
  await call.asks("And when do you open?");
  await call.time.pass(1_000);
  call.page.gives("14C");
  await call.time.pass(4_000);
  expect(call.conversations.lines.slice(-2)).toEqual(["assistant: At nine.", "assistant: You have seat 14C."]);
  expect(call.page.refused).toEqual([]);
});

test("a client's call that is cancelled when the caller interrupts takes no result, and the page learns so", async () => {
  const call = await showingSeats({ isCancellable: true });
  await call.asks("And when do you open?");
  await call.time.pass(3_000);
  call.page.gives("14C");
  expect(call.page.refused).toEqual(["tcl_1", "tcl_1"]);
  expect(call.conversations.given).toEqual([]);
});

test("a page that leaves, and a call that ends, give the open call an error before the conversation is completed", async () => {
  const gone = await showingSeats();
  gone.page.leaves();
  await gone.time.pass(100);
  expect(gone.conversations.given).toEqual([expect.stringMatching(/^tcl_1: The client left .*\(error\)$/)]);
  const over = await showingSeats();
  await over.leaves();
  await over.ended;
  expect(over.conversations.given).toHaveLength(1);
});

test("a speech-to-speech model gets the result of a client's call, or why there is none in the tool's time", async () => {
  const rules = { ...RULES, timeoutMs: 20_000 };
  const conversations = fakeConversations({
    toolDefinitions: [{ name: "show_seats", description: "", parameters: {}, rules }],
  });
  conversations.clientCall = {
    toolCallId: "tcl_1",
    name: "show_seats",
    arguments: "{}",
    wait: true,
    timeoutMs: 20_000,
  };
  const page = scriptedClient();
  const sts = scriptedSts();
  const call = await newCall({ conversations, sts, request: { client: page.client } });
  const calls = () => sts.report({ type: "tool_call", callId: "c", name: "show_seats", arguments: {} });
  calls();
  await call.time.pass(100);
  page.gives("14C");
  await call.time.pass(100);
  calls();
  await call.time.pass(20_100);
  expect(sts.answers).toEqual(["c: 14C", "c: There was no result within 20 s. The call may have had an effect."]);
});

test("watchers who may see tools learn of each call and its result, others of neither", async () => {
  const told = await tellingCall(true);
  expect(told).toEqual([
    { type: "tool_call", toolCallId: "tcl_1", name: "look_up", arguments: "{}" },
    { type: "tool_result", toolCallId: "tcl_1", result: "Monday", isError: false },
  ]);
  expect(await tellingCall(false)).toEqual([]);
});

/** What watchers learn of tools. */
async function tellingCall(tellsTools: boolean) {
  const conversations = fakeConversations();
  conversations.script = (turn) => {
    expect(turn.tellsTools).toBe(tellsTools);
    const called = { $case: "called" as const, value: { name: "look_up", arguments: "{}" } };
    const answered = { $case: "answered" as const, value: { result: "Monday", isError: false } };
    const news = [called, answered].map((event) => ({ offset: 0, toolCallId: "tcl_1", event }));
    return [...news.map((value) => ({ $case: "toolNews" as const, value })), words("Monday."), complete];
  };
  const call = await newCall({ conversations, request: { tellsTools } });
  await call.asks("When does it come?");
  return call.news.filter(({ type }) => type.startsWith("tool_"));
}
