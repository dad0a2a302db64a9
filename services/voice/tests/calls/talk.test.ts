import { expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { fakeClock } from "@parley/testkit/clock";
import { speakable } from "../../src/turn/speakable.ts";
import { complete, fakeConversations, says, words } from "../kit/fake-conversations.ts";
import { type Given, newCall } from "../kit/scripted-call.ts";
import { scriptedVoice, WORD_MS } from "../kit/scripted-speech.ts";

test("a call is held: greeting, question, answer, goodbye, and the end of the conversation", async () => {
  const conversations = fakeConversations({ greeting: "Front desk, how can I help?" });
  const call = await newCall({ conversations });
  await call.time.pass(2_000);
  expect(call.voice.said).toEqual(["Front desk, how can I help?"]);
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  conversations.script = () => [
    words("Goodbye "),
    words("then!"),
    { $case: "action", value: { action: { $case: "endCall", value: {} } } },
    complete,
  ];
  await call.asks("Bye.");
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual([
    "assistant: Front desk, how can I help?",
    "user: When do you open?",
    "assistant: We open at nine.",
    "user: Bye.",
    "assistant: Goodbye then!",
  ]);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: null });
  expect(call.leg.hungUp).toBe(true);
  expect(call.hearing.isOpen).toBe(false);
  expect(conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_SUCCESS }]);
  expect(call.live).toEqual({ taken: 1, released: 1, abandoned: 0 });
});

test("an interruption stores exactly the words that were heard, and none of the rest is played", async () => {
  const conversations = fakeConversations();
  conversations.script = says("We open at nine in the morning, and on Sundays at ten. Do come and see us.");
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  // The reply began at the end of the turn; a word takes 200 ms.
  call.began();
  await call.time.pass(300);
  const playedBefore = call.leg.played.length;
  call.hearing.report({ type: "partial", text: "Wait" });
  await call.time.pass(3_000);
  expect(call.leg.played.length).toBe(playedBefore);
  const heard = conversations.lines[1]?.replace("assistant: ", "") ?? "";
  expect("We open at nine in the morning,".startsWith(heard)).toBe(true);
  const heardMs = call.leg.heardSamples() / 16;
  expect(heard.split(" ")).toHaveLength(Math.floor(heardMs / 200));
});

test("after a stop without words, the reply resumes where it was cut and is stored once in full", async () => {
  const conversations = fakeConversations();
  const text = "We open at nine in the morning, and on Sundays at ten.";
  conversations.script = says(text);
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  call.began();
  await call.time.pass(400);
  call.stopped();
  await call.time.pass(8_000);
  expect(conversations.lines).toEqual(["user: When do you open?", `assistant: ${text}`]);
  expect(call.voice.said).toHaveLength(2);
  expect(text.endsWith(call.voice.said[1] ?? "?")).toBe(true);
  expect(conversations.asked).toHaveLength(1);
});

test("mm-hm does not interrupt", async () => {
  const conversations = fakeConversations();
  const text = "We open at nine in the morning, and on Sundays at ten.";
  conversations.script = says(text);
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  call.hearing.report({ type: "partial", text: "mm-hm" });
  call.began();
  await call.time.pass(400);
  call.falls("Mm-hm.");
  await call.time.pass(4_000);
  expect(conversations.lines).toEqual(["user: When do you open?", `assistant: ${text}`]);
  expect(call.voice.said).toHaveLength(1);
});

/** A call whose own clock and the shared one go together. */
async function timedCall(given: Given) {
  const shared = fakeClock(new Date(1_000_000));
  const call = await newCall({ ...given, sharedTime: shared });
  return {
    ...call,
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 20) {
        shared.advance(20);
        await call.time.pass(20);
      }
    },
    /** Seconds since the call began. */
    second: (at: Date | undefined) => at && (at.getTime() - 1_000_000) / 1_000,
  };
}

test("each message is stored with the moment at which its first word was heard", async () => {
  const conversations = fakeConversations({ greeting: "Front desk, how can I help?" });
  const call = await timedCall({ conversations });
  await call.pass(2_000);
  call.speaks("My number is");
  await call.pass(800);
  call.falls("My number is");
  await call.pass(700);
  call.speaks("four two.");
  await call.pass(600);
  call.falls("four two.");
  await call.pass(5_000);
  expect(conversations.lines).toEqual([
    "assistant: Front desk, how can I help?",
    "user: My number is four two.",
    "assistant: We open at nine.",
  ]);
  const [greeting, question, answer] = conversations.starts.map(call.second);
  expect(greeting).toBeCloseTo(0, 1);
  expect(question).toBeCloseTo(2, 1);
  expect(answer).toBeCloseTo(4.4, 1);
});

test("a noise before the user speaks is not the beginning of what they say", async () => {
  const conversations = fakeConversations();
  const call = await timedCall({ conversations });
  call.began();
  await call.pass(400);
  call.stopped();
  await call.pass(2_000);
  call.speaks("When do you open?");
  await call.pass(800);
  call.falls("When do you open?");
  await call.pass(2_000);
  expect(call.second(conversations.starts[0])).toBeCloseTo(2.4, 1);
});

test("a call is completed with the moment at which it was answered", async () => {
  const ringing = Promise.withResolvers<void>();
  const call = await timedCall({ connect: () => ringing.promise });
  await call.pass(5_000);
  ringing.resolve();
  await call.pass(1_000);
  await call.leaves();
  await call.ended;
  expect(call.second(call.conversations.completed[0]?.answeredAt)).toBeCloseTo(5, 1);
});

test("the latency of an answer is measured from the end of speech to the first audio on the wire", async () => {
  const call = await newCall();
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  const [latency] = call.conversations.latencies as Record<string, number>[];
  expect(latency).toMatchObject({ transcriptMs: 0, endOfTurnMs: 300, firstWordMs: 300, firstAudioMs: 300 });
  expect(latency?.audibleMs).toBeGreaterThanOrEqual(300);
  expect(latency?.audibleMs).toBeLessThanOrEqual(320);
});

test("the latency of an answer says whether the user's sentence seemed unfinished", async () => {
  const call = await newCall();
  for (const text of ["My number is", "When do you open?"]) {
    call.speaks(text);
    await call.time.pass(800);
    call.falls(text);
    await call.time.pass(4_000);
  }
  expect(call.conversations.latencies).toMatchObject([
    { endOfTurnMs: 1_500, unfinished: true },
    { endOfTurnMs: 300, unfinished: undefined },
  ]);
});

test.each(["👍", "```\nconst open = 9;\n```"])(
  "an answer without a word, such as %j, is stored and is not a failure",
  async (text) => {
    const conversations = fakeConversations();
    conversations.script = says(text);
    const call = await newCall({ conversations });
    for (const question of ["See you at nine?", "Great, and then at ten?"]) {
      await call.asks(question);
      await call.time.pass(2_000);
    }
    expect(call.voice.said).toEqual([]);
    expect(conversations.asked).toHaveLength(2);
    expect(conversations.lines.filter((line) => line === `assistant: ${text}`)).toHaveLength(2);
    expect(call.leg.hungUp).toBe(false);
  },
);

const MARKDOWN = `## Our hours

- **Weekdays**: nine to five, see [the calendar](https://example.com/calendar?view=week)
- *Sundays*: closed

\`\`\`json
{ "open": true }
\`\`\`

Shall I book a table?`;

test("a reply with Markdown is spoken as words, and its transcript is what the model wrote", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [...Array.from(MARKDOWN, words), complete];
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(10_000);
  expect(call.voice.said.join("")).toBe(
    "Our hours.\n\nWeekdays: nine to five, see the calendar.\nSundays: closed.\n\n\nShall I book a table?",
  );
  expect(conversations.lines).toEqual(["user: When do you open?", `assistant: ${MARKDOWN}`]);
});

test.each([1, 2, 5, 8, 11, 15])(
  "a reply with Markdown that is interrupted after %d words is stored up to that word",
  async (count) => {
    const conversations = fakeConversations();
    conversations.script = says(MARKDOWN);
    const call = await newCall({ conversations });
    await call.asks("When do you open?");
    await call.time.pass(WORD_MS * (count - 2));
    call.began();
    await call.time.pass(WORD_MS + 10);
    call.hearing.report({ type: "partial", text: "Wait" });
    await call.time.pass(1_000);
    const stored = conversations.lines[1]?.replace("assistant: ", "") ?? "";
    expect(MARKDOWN).toStartWith(stored);
    const written = speakable();
    const spoken = written.push(stored) + written.end();
    const heardWords = Math.floor(call.leg.heardSamples() / 16 / WORD_MS);
    expect(spoken.match(/\S+/g) ?? []).toHaveLength(heardWords);
  },
);

test("a reply with Markdown that is stopped without words resumes where it was cut, and is stored once in full", async () => {
  const conversations = fakeConversations();
  conversations.script = says(MARKDOWN);
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(7 * WORD_MS);
  call.began();
  await call.time.pass(WORD_MS + 10);
  call.stopped();
  await call.time.pass(10_000);
  const [whole = "", rest = "?"] = call.voice.said;
  expect(whole).toEndWith(rest);
  expect(rest.length).toBeLessThan(whole.length);
  expect(conversations.lines).toEqual(["user: When do you open?", `assistant: ${MARKDOWN}`]);
});

test("a call continues after the model schedules another", async () => {
  const conversations = fakeConversations();
  const action = { $case: "scheduleCall" as const, value: { at: new Date(), reason: "The quote" } };
  conversations.script = () => [{ $case: "action", value: { action } }, words("We will call you."), complete];
  const call = await newCall({ conversations });
  await call.asks("Call me tomorrow.");
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual(["user: Call me tomorrow.", "assistant: We will call you."]);
  expect(call.leg.hungUp).toBe(false);
});

test("a language that the model sets is recognized and spoken from then on", async () => {
  const conversations = fakeConversations();
  const action = { $case: "setLanguage" as const, value: { language: "es" } };
  conversations.script = () => [{ $case: "action", value: { action } }, words("Claro."), complete];
  const call = await newCall({ conversations });
  await call.asks("En español, por favor.");
  await call.time.pass(1_000);
  expect(call.hearing.language).toBe("es");
  expect(call.voice.languages).toEqual(["es"]);
});

const handOver = {
  $case: "action" as const,
  value: {
    action: {
      $case: "handOver" as const,
      value: { agentId: "agt_2", voiceAgentId: "agt_2", contextFrom: 0, message: "", greets: false },
    },
  },
};

/** A call in which another agent takes over between two words of a reply. */
async function clientCalls(otherVoice: ReturnType<typeof scriptedVoice> | null = scriptedVoice()) {
  const conversations = fakeConversations();
  conversations.script = () => [words("I pass you on. "), handOver, words("Soy Ana. Buenos días."), complete];
  const call = await newCall({ conversations, otherVoice });
  await call.asks("Spanish, please.");
  return { ...call, otherVoice };
}

test("an agent that takes over speaks with its own voice, once the words of the one before were heard", async () => {
  const call = await clientCalls();
  expect([call.voice.said, call.otherVoice?.said]).toEqual([["I pass you on. "], []]);
  await call.time.pass(3_000);
  expect([call.voice.said, call.otherVoice?.said]).toEqual([["I pass you on. "], ["Soy Ana. Buenos días."]]);
  expect(call.conversations.lines.at(-1)).toBe("assistant: I pass you on. Soy Ana. Buenos días.");
  expect([call.hearing.language, call.otherVoice?.languages]).toEqual(["es", ["es"]]);
});

test("an agent that has taken over speaks all later replies, also when a turn tells again that it does", async () => {
  const call = await clientCalls();
  await call.time.pass(3_000);
  for (const reply of ["Abrimos a las nueve.", "Adiós."]) {
    call.conversations.script = () => [handOver, words(reply), complete];
    await call.asks("And now?");
    await call.time.pass(3_000);
    expect(call.otherVoice?.said.at(-1)).toBe(reply);
    expect(call.conversations.lines.at(-1)).toBe(`assistant: ${reply}`);
  }
  expect(call.voice.said).toHaveLength(1);
});

test.each([
  ["the one before", 100, "I pass"],
  ["the new one", 1_000, "I pass you on. Soy Ana."],
])("a reply of two agents that is interrupted while %s speaks ends where it was heard", async (_, afterMs, heard) => {
  const call = await clientCalls();
  await call.time.pass(afterMs);
  call.speaks("Wait, please");
  await call.time.pass(1_000);
  call.falls("Wait, please");
  await call.time.pass(600);
  expect(call.conversations.lines[1]).toBe(`assistant: ${heard}`);
});

test("an agent that takes over without a voice of its own speaks with the one that was heard so far", async () => {
  const call = await clientCalls(null);
  await call.time.pass(3_000);
  expect(call.voice.said).toEqual(["I pass you on. ", "Soy Ana. Buenos días."]);
  expect(call.conversations.lines.at(-1)).toBe("assistant: I pass you on. Soy Ana. Buenos días.");
});

test("keys that the caller presses are answered and shown in the transcript and in captions", async () => {
  const conversations = fakeConversations({ greeting: "Type your booking number, then the hash key." });
  const call = await newCall({ conversations });
  await call.time.pass(300);
  for (const key of ["4", "2", "#"]) call.presses(key);
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual(["assistant: Type", "user: [Pressed 42]", "assistant: We open at nine."]);
  expect(call.news).toContainEqual({ type: "user", text: "[Pressed 4]", isFinal: false });
  expect(call.news).toContainEqual({ type: "user", text: "[Pressed 42]", isFinal: true });
  expect(conversations.latencies[0]).toMatchObject({ transcriptMs: 0, endOfTurnMs: 0 });
});

test("keys that arrive faster than any phone sends them are dropped, and the call continues", async () => {
  const conversations = fakeConversations();
  const call = await newCall({ conversations });
  for (let key = 0; key < 1_000; key++) call.presses("#");
  await call.time.pass(6_000);
  expect(conversations.lines).toHaveLength(61);
  call.presses("4");
  call.presses("#");
  await call.time.pass(2_000);
  expect(conversations.lines.slice(-2)).toEqual(["user: [Pressed 4]", "assistant: We open at nine."]);
});

test("a background sound is also sent in silence, and does not change what is heard and stored", async () => {
  const conversations = fakeConversations({ tools: { background_audio: { sound: "office", volume: 1 } } });
  const call = await newCall({ conversations });
  await call.time.pass(500);
  expect(call.leg.sent.slice(0, 20).every((frame) => frame?.some((sample) => sample !== 0))).toBeTrue();
  expect(call.leg.heardSamples()).toBe(0);
  await call.asks("When do you open?");
  await call.time.pass(3_000);
  expect(conversations.lines).toEqual(["user: When do you open?", "assistant: We open at nine."]);
  expect(call.leg.heardSamples() / 16).toBe(4 * 200);
});

test("live events report what is said and what the agent does", async () => {
  const call = await newCall();
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  expect(call.news.filter(({ type }) => type === "state").map((each) => "state" in each && each.state)).toEqual([
    "thinking",
    "speaking",
    "listening",
  ]);
  expect(call.news).toContainEqual({ type: "user", text: "When do you open?", isFinal: true });
  expect(call.news).toContainEqual({ type: "agent", text: "We open at nine.", isFinal: true });
});
