import { expect, setSystemTime, test } from "bun:test";
import { Conversation, ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { fakeClock } from "@parley/shared/testing/clock";
import { serviceErrorOf } from "@parley/shared/testing/failures";
import { completeLost } from "../src/call/complete-call.ts";
import { type CallNews, type CallRequest, NotConnected } from "../src/call/port.ts";
import type { StartCallOptions } from "../src/call/prepare-call.ts";
import { callHolder } from "../src/call/start-call.ts";
import { transcript } from "../src/call/transcript.ts";
import { denialOf } from "../src/outbound/denied-numbers.ts";
import { recorderOf } from "../src/recording/record-call.ts";
import type { LegListener } from "../src/transport/leg.ts";
import { LINES } from "../src/turn/settings.ts";
import { complete, type FakeConversations, fakeConversations, says, words } from "./kit/fake-conversations.ts";
import { type FakeTime, fakeTime, settle } from "./kit/fake-time.ts";
import { type ScriptedLeg, scriptedLeg } from "./kit/scripted-leg.ts";
import { scriptedDetector, scriptedHearing, scriptedVoice } from "./kit/scripted-speech.ts";
import { scriptedSts } from "./kit/scripted-sts.ts";

const REQUEST: CallRequest = { ownerId: "own_1", agentId: "agt_1", channel: { type: "WEB" } };
const SPEECH = {
  stt: { providerName: "CUSTOM_STT", modelName: "m", language: "en", endpoint: undefined },
  tts: {
    providerName: "CUSTOM_TTS",
    modelName: "m",
    language: "en",
    voiceId: "v",
    speed: undefined,
    endpoint: undefined,
  },
  sts: undefined,
  mobileNumbers: [],
};

const transferTo = (phoneNumber: string) => ({
  $case: "action" as const,
  value: { action: { $case: "transferCall" as const, value: { phoneNumber } } },
});

const STS = { providerName: "OPENAI", modelName: "m", language: "en", voiceId: "v", params: {} };

interface Given {
  /** The model of an agent with speech to speech. */
  sts?: ReturnType<typeof scriptedSts>;
  conversations?: FakeConversations;
  hearing?: ReturnType<typeof scriptedHearing>;
  voice?: ReturnType<typeof scriptedVoice>;
  connect?: (signal: AbortSignal) => Promise<void>;
  time?: FakeTime;
  live?: Live;
  transfer?: "fails" | "ends";
  request?: Partial<CallRequest>;
  recordings?: StartCallOptions["recordings"];
}

type Live = ReturnType<typeof newLive>;
const newLive = () => ({ taken: 0, released: 0, abandoned: 0 });

/** A call with everything around it scripted. */
async function newCall(given: Given = {}) {
  const time = given.time ?? fakeTime();
  const conversations = given.conversations ?? fakeConversations();
  const hearing = given.hearing ?? scriptedHearing();
  const voice = given.voice ?? scriptedVoice();
  const detector = scriptedDetector();
  const live = given.live ?? newLive();
  const stopping = new AbortController();
  const news: CallNews[] = [];
  let leg = null as ScriptedLeg | null;
  let listenerOf = null as LegListener | null;
  const all = callHolder({
    conversations,
    getSpeech: async () => (given.sts ? { ...SPEECH, sts: STS } : SPEECH),
    selectSpeech: () => ({ hearing, voice }),
    selectSpeechToSpeech: () => given.sts ?? scriptedSts(),
    detector,
    live: {
      take: async () => void live.taken++,
      connected: async () => {},
      release: async () => void live.released++,
      abandon: async () => void live.abandoned++,
      stop: async () => {},
    },
    recordings: given.recordings ?? { begin: async () => null, addressOf: async () => null, finish: async () => {} },
    clock: time,
    log: silentLogger,
    stopping: stopping.signal,
    recordEnd: async (_call, end) => end,
    denialOf: (number) => denialOf(number, []),
  });
  const underWay = await all.start(
    { ...REQUEST, ...given.request, watch: (each) => news.push(each) },
    async (listener, signal) => {
      await given.connect?.(signal);
      leg = scriptedLeg(time, listener, given.transfer);
      listenerOf = listener;
      return leg;
    },
  );
  await settle();
  return {
    ...underWay,
    all,
    time,
    conversations,
    hearing,
    voice,
    news,
    live,
    stopping,
    leg: leg as unknown as ScriptedLeg,
    speaks: (text: string) => {
      detector.report({ type: "speech_began", agoMs: 0 });
      hearing.report({ type: "partial", text });
    },
    falls: (text: string) => {
      detector.report({ type: "speech_ended", agoMs: 0 });
      hearing.report({ type: "final", text });
    },
    began: () => detector.report({ type: "speech_began", agoMs: 0 }),
    stopped: () => detector.report({ type: "speech_ended", agoMs: 0 }),
    async asks(text: string) {
      this.speaks(text);
      await time.pass(800);
      this.falls(text);
      await time.pass(600);
    },
    presses: (key: string) => listenerOf?.pressed(key),
    machine: (told: "machine_answered" | "machine_ready") =>
      all.signal({ ownerId: REQUEST.ownerId, conversationId: underWay.conversationId }, told),
    leaves: async () => {
      listenerOf?.ended("hung_up");
      await settle();
    },
  };
}

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

test("the latency of an answer is measured from the end of speech to the first audio on the wire", async () => {
  const call = await newCall();
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  const [latency] = call.conversations.latencies as Record<string, number>[];
  expect(latency).toMatchObject({ transcriptMs: 0, endOfTurnMs: 300, firstWordMs: 300, firstAudioMs: 300 });
  expect(latency?.audibleMs).toBeGreaterThanOrEqual(300);
  expect(latency?.audibleMs).toBeLessThanOrEqual(320);
});

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

test("a voice that says nothing ends the call as failed after 15 s, without waiting forever for an apology", async () => {
  const call = await newCall({ voice: scriptedVoice(() => "stall") });
  await call.asks("When do you open?");
  await call.time.pass(31_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
  expect(call.conversations.lines).toEqual(["user: When do you open?"]);
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

test("when a user leaves in the middle of an answer, what was heard is stored", async () => {
  const conversations = fakeConversations({ greeting: "Front desk, how can I help?" });
  const call = await newCall({ conversations });
  await call.time.pass(410);
  await call.leaves();
  await call.time.pass(100);
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY" });
  expect(conversations.lines).toEqual(["assistant: Front desk,"]);
  expect(conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_HUNG_UP_EARLY }]);
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

test("an answer without a word, such as an emoji, is not a failure", async () => {
  const conversations = fakeConversations();
  conversations.script = says("👍");
  const spoken: string[] = [];
  const voice: Given["voice"] = {
    ...scriptedVoice(),
    speak: (_options, tell) => ({
      say: (text) => void spoken.push(text),
      end: () => queueMicrotask(() => tell({ type: "done" })),
    }),
  };
  const call = await newCall({ conversations, voice });
  for (const question of ["See you at nine?", "Great, and then at ten?"]) {
    await call.asks(question);
    await call.time.pass(2_000);
  }
  expect(spoken).toEqual(["👍", "👍"]);
  expect(conversations.asked).toHaveLength(2);
  expect(call.leg.hungUp).toBe(false);
});

test("a message has the time at which it was said, also if it is stored later", async () => {
  try {
    setSystemTime(new Date(1_000_000));
    const conversations = fakeConversations();
    const times: (Date | undefined)[] = [];
    const gate = Promise.withResolvers<void>();
    const kept = transcript({
      conversations: {
        ...conversations,
        appendTranscript: async (requests) => {
          await gate.promise;
          for await (const { message } of requests) times.push(message?.timestamp);
          return { lastSequence: times.length };
        },
      },
      key: { ownerId: "own_1", conversationId: "c" },
      lastSequence: 0,
      clock: fakeTime(),
      refused: (error) => {
        throw error;
      },
    });
    kept.append("assistant", "Hello.");
    kept.append("user", "Bye.");
    setSystemTime(new Date(2_000_000));
    gate.resolve();
    await kept.settled();
    expect(times).toEqual([new Date(1_000_000), new Date(1_000_000)]);
  } finally {
    setSystemTime();
  }
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

test("a party that does not answer ends the conversation as no answer", async () => {
  const call = await newCall({
    connect: () => Promise.reject(new NotConnected("no_answer", "Nobody answered")),
  });
  expect(await call.ended).toEqual({ outcome: "NO_ANSWER", durationSeconds: 0, notes: "Nobody answered" });
  expect(call.conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_NO_ANSWER }]);
});

test("nobody is reminded or given up on while the phone rings", async () => {
  const answers = Promise.withResolvers<void>();
  const conversations = fakeConversations({
    greeting: "Hello there, this is Parley.",
    tools: { user_idle: { timeout_seconds: 5, max_reminders: 0 } },
  });
  const call = await newCall({ conversations, connect: () => answers.promise });
  await call.time.pass(60_000);
  expect(call.hearing.isOpen).toBe(false);
  answers.resolve();
  await settle();
  await call.time.pass(3_000);
  expect(call.voice.said).toEqual(["Hello there, this is Parley."]);
  expect(conversations.completed).toEqual([]);
});

test("a call that is hung up while the phone rings ends immediately, and the phone stops ringing", async () => {
  let stopsRinging = false;
  const call = await newCall({
    connect: (signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          stopsRinging = true;
          reject(new NotConnected("cancelled", "Cancelled"));
        }),
      ),
  });
  call.hangUp();
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY", durationSeconds: 0 });
  expect(stopsRinging).toBe(true);
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

test("a call that cannot be held frees its place and leaves no conversation", async () => {
  const conversations = fakeConversations({ llm: undefined });
  const failing = newCall({ conversations });
  expect(await serviceErrorOf(failing)).toMatchObject({
    kind: "condition",
    detail: "Agent has no LLM configuration: set llm",
  });
});

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

test("a call is hung up when its longest duration is over, and is complete", async () => {
  const call = await newCall({ request: { maxDurationSeconds: 20 } });
  await call.asks("When do you open?");
  await call.time.pass(18_000);
  expect(call.leg.hungUp).toBe(false);
  await call.time.pass(2_000);
  expect(call.leg.hungUp).toBe(true);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", durationSeconds: 20 });
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

test("a call whose agent must leave a message but has none is refused", async () => {
  expect(await serviceErrorOf(newCall({ request: { leavesMessage: true } }))).toMatchObject({
    kind: "condition",
    detail: "Agent has no voicemail message: set call_settings.voicemail_message",
  });
});

test("a recorded call has the address of its recording once it is over", async () => {
  const conversations = fakeConversations({ recording: true, greeting: "Front desk, how can I help?" });
  const kept = scriptedRecordings();
  const call = await newCall({ conversations, recordings: kept.recordings });
  await call.asks("When do you open?");
  await call.leaves();
  await call.time.pass(100);
  await call.ended;
  expect(conversations.completed).toMatchObject([{ recordingUrl: "https://api.example/recording" }]);
  expect(kept.finished).toEqual([call.conversationId]);
  // Two headers, and a page for each second.
  expect(Buffer.concat(kept.written).toString("latin1").match(/OggS/g)?.length).toBeGreaterThanOrEqual(4);
});

test("a recorded call whose database is away for a moment at its end is completed as it ended", async () => {
  const conversations = fakeConversations({ recording: true });
  const kept = scriptedRecordings();
  let asked = 0;
  const addressOf: typeof kept.recordings.addressOf = async (call) => {
    if (++asked === 1) throw new ServiceError("unavailable", "The database is unreachable");
    return kept.recordings.addressOf(call);
  };
  const call = await newCall({ conversations, recordings: { ...kept.recordings, addressOf } });
  await call.asks("When do you open?");
  await call.leaves();
  await call.time.pass(200);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(conversations.completed).toMatchObject([{ recordingUrl: "https://api.example/recording" }]);
  expect(call.live).toEqual({ taken: 1, released: 1, abandoned: 0 });
});

test("a call that is not or cannot be recorded is held all the same and has no address", async () => {
  for (const [recording, recordings] of [
    [false, scriptedRecordings().recordings],
    [true, undefined],
  ] as const) {
    const conversations = fakeConversations({ recording });
    const call = await newCall({ conversations, ...(recordings && { recordings }) });
    await call.asks("When do you open?");
    await call.time.pass(2_000);
    await call.leaves();
    expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
    expect(conversations.completed).toMatchObject([{ recordingUrl: undefined }]);
  }
});

test("a disk that is full or hangs disturbs no call", async () => {
  for (const write of [() => Promise.reject(new Error("no space left on device")), () => new Promise<void>(() => {})]) {
    const conversations = fakeConversations({ recording: true });
    const kept = scriptedRecordings(write);
    const call = await newCall({ conversations, recordings: kept.recordings });
    await call.asks("When do you open?");
    await call.time.pass(2_000);
    await call.leaves();
    await call.time.pass(5_100);
    expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
    expect(conversations.lines).toEqual(["user: When do you open?", "assistant: We open at nine."]);
    expect(call.live.released).toBe(1);
  }
});

/** Recordings whose bytes `write` handles. */
function scriptedRecordings(write: () => Promise<void> = async () => {}) {
  const written: Uint8Array[] = [];
  const finished: string[] = [];
  const recordings: StartCallOptions["recordings"] = {
    begin: async (_call, clock) =>
      recorderOf({
        file: {
          write: (bytes) => {
            written.push(bytes);
            return write();
          },
          close: async () => {},
        },
        bytesMax: 1_000_000,
        clock,
        failed: () => {},
      }),
    addressOf: async () => "https://api.example/recording",
    finish: async ({ conversationId }) => void finished.push(conversationId),
  };
  return { recordings, written, finished };
}

test("a call whose process died keeps what was recorded of it, if anyone was connected", async () => {
  for (const [durationSeconds, recordingUrl] of [
    [12.5, "https://api.example/recording"],
    [null, undefined],
  ] as const) {
    const conversations = fakeConversations();
    const kept = scriptedRecordings();
    await completeLost(
      { conversations, recordEnd: async (_call, end) => end, recordings: kept.recordings, clock: fakeClock() },
      { ownerId: "own_1", conversationId: "c", startedAt: new Date(0), durationSeconds },
    );
    expect(conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_ERROR, recordingUrl }]);
    expect(kept.finished).toEqual(["c"]);
  }
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

test("an agent with a speech-to-speech model needs no other model, and its tools and words reach its conversation", async () => {
  const conversations = fakeConversations({
    llm: undefined,
    prompt: "You are Ada.",
    greeting: "Hello there.",
    toolDefinitions: [{ name: "end_call", description: "Ends the call", parameters: { type: "object" } }],
  });
  const sts = scriptedSts();
  const call = await newCall({ conversations, sts });
  expect(sts.options).toMatchObject({ prompt: "You are Ada.", voiceId: "v", tools: [{ name: "end_call" }] });
  await call.time.pass(1_000);
  sts.report({ type: "user_said", text: "Bye." });
  sts.report({ type: "tool_call", callId: "c", name: "end_call", arguments: { message: "Bye!" } });
  await call.time.pass(10);
  // The greeting, the user's farewell, and the reply that the tool call belongs to.
  const place = { sequence: 3, offset: 0 };
  expect(conversations.tools).toMatchObject([{ name: "end_call", arguments: { message: "Bye!" }, ...place }]);
  sts.speaks("Bye bye.");
  sts.report({ type: "done" });
  await call.time.pass(1_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(conversations.lines).toEqual(["assistant: Hello there.", "user: Bye.", "assistant: Bye bye."]);
  expect(conversations.completed).toMatchObject([{ outcome: Outcome.OUTCOME_SUCCESS }]);
});

test("a call begins even if the first answer to its start is lost", async () => {
  let asked = 0;
  const conversations = fakeConversations();
  const startConversation: FakeConversations["startConversation"] = async (request) => {
    asked++;
    if (asked === 1) throw new ServiceError("unavailable", "the connection was lost");
    return conversations.startConversation(request);
  };
  const time = fakeTime();
  const calling = newCall({ conversations: { ...conversations, startConversation }, time });
  await time.pass(200);
  const call = await calling;
  await call.asks("When do you open?");
  expect(conversations.asked).toEqual(["When do you open?"]);
});

test("a call begins even if the agent service is down for seconds", async () => {
  let asked = 0;
  const conversations = fakeConversations();
  const getCallSetup: FakeConversations["getCallSetup"] = async (request) => {
    if (++asked < 3) throw new ServiceError("unavailable", "The agent service is unreachable, try again");
    return conversations.getCallSetup(request);
  };
  const time = fakeTime();
  const calling = newCall({ conversations: { ...conversations, getCallSetup }, time });
  await time.pass(1_000);
  const call = await calling;
  await call.asks("When do you open?");
  expect(conversations.asked).toEqual(["When do you open?"]);
});

test.each([
  ["of whose start no answer comes", new ServiceError("unavailable", "away")],
  ["that begins but cannot go on", new ServiceError("internal", "An unexpected error")],
])("a call %s is left to whoever ends its conversation", async (_what, failure) => {
  const conversations = { ...fakeConversations(), startConversation: () => Promise.reject(failure) };
  const [time, live] = [fakeTime(), newLive()];
  const refused = serviceErrorOf(newCall({ conversations, time, live }));
  await time.pass(6_000);
  expect(await refused).toMatchObject({ kind: failure.kind });
  expect(live).toEqual({ taken: 1, released: 0, abandoned: 1 });
});

test("a call whose conversation has ended already is refused", async () => {
  const conversation = Conversation.fromPartial({ status: ConversationStatus.CONVERSATION_STATUS_FAILED });
  const startConversation = async () => ({ conversation, lastSequence: 0 });
  const conversations = { ...fakeConversations(), startConversation };
  expect(await serviceErrorOf(newCall({ conversations }))).toMatchObject({ kind: "condition" });
});
