import { expect, test } from "bun:test";
import { HoldTestCallRequest, type HoldTestCallResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { newUuid } from "@parley/shared/ids";
import { passingTime } from "@parley/shared/shares/passing-time";
import { serviceErrorOf } from "@parley/testkit/failures";
import { holdTestCall } from "../../src/test-calls/hold-test-call.ts";
import { complete, fakeConversations, words } from "../kit/fake-conversations.ts";
import { type Given, scriptedHolder } from "../kit/scripted-call.ts";
import { levelDetector, toneHearing, toneSts, toneVoice } from "../kit/tones.ts";

const START = { ownerId: "own_1", agentId: "agt_1", agentVersion: 3, conversationId: newUuid() };
const TEST = { runId: "run_1", toolMocks: [], unmockedReal: false, dynamicVariables: { company: "Acme" } };
const TTS = {
  providerName: "CUSTOM_TTS",
  modelName: "m",
  language: "en",
  voiceId: "v",
  speed: undefined,
  endpoint: undefined,
};

interface Steps {
  lines?: readonly object[];
  /** Settles before the requests end. */
  until?: Promise<void>;
}

/** Holds a call by RTP, in which everybody speaks in tones and each tone of the user is recognized as the next text. */
function holding(
  recognized: readonly string[],
  { lines = [], until = Promise.resolve() }: Steps,
  given: Partial<Given> = {},
) {
  const holder = scriptedHolder({
    conversations: fakeConversations({ greeting: "Hello there." }),
    hearing: toneHearing(recognized),
    voice: { ...toneVoice(), said: [], languages: [] },
    ...given,
    clock: passingTime,
    detector: levelDetector(),
  });
  const [gone, stopping] = [new AbortController(), new AbortController()];
  const news: HoldTestCallResponse["news"][] = [];
  async function* steps(): AsyncGenerator<HoldTestCallRequest> {
    for (const line of lines) yield HoldTestCallRequest.fromPartial({ step: { $case: "line", value: line } } as never);
    await until;
  }
  const held = holdTestCall(
    {
      startCall: holder.all.start,
      rtp: { ports: { first: 26_000, last: 26_999 }, dropped: () => {} },
      clock: passingTime,
      tts: TTS,
      voiceOf: () => toneVoice(),
    },
    { ...START, test: TEST, dynamicVariables: undefined },
    steps(),
    { signal: gone.signal, stopping: stopping.signal },
    (each) => void news.push(each),
  );
  return { ...holder, held, gone, stopping, news };
}

const turnsOf = (news: HoldTestCallResponse["news"][]) =>
  news.flatMap((each) => (each?.$case === "turn" ? [[each.value.recognized, each.value.heard]] : []));

test("a test's user asks line by line in a call of its own, presses keys, and is told what was recognized and heard of each", async () => {
  const lines = [{ text: "When do you open?" }, { text: "And then?", noise: "street", dtmf: "12" }];
  const { held, news, conversations } = holding(["when do you open", "and then"], { lines });
  await held;
  expect(turnsOf(news)).toEqual([
    ["", "Hello there."],
    ["when do you open", "We open at nine."],
    ["and then [Pressed 12]", "We open at nine."],
  ]);
  const latencies = news.map((each) => each?.$case === "turn" && each.value.latencyMs);
  expect(latencies.slice(0, 3).every((latency) => Number(latency) >= 0)).toBeTrue();
  expect(news.at(-1)).toEqual({
    $case: "end",
    value: { endedBy: "user", reason: "All lines were said and answered" },
  });
  expect(conversations.lines).toEqual([
    "assistant: Hello there.",
    "user: when do you open",
    "assistant: We open at nine.",
    "user: and then [Pressed 12]",
    "assistant: We open at nine.",
  ]);
  expect(conversations.completed).toHaveLength(1);
});

test("a test's call begins the conversation that it names, with its setup and its variables", async () => {
  const conversations = fakeConversations();
  const started: unknown[] = [];
  const startConversation = async (request: unknown) => {
    started.push(request);
    return { conversation: undefined, lastSequence: 0 };
  };
  const { held } = holding([], {}, { conversations: { ...conversations, startConversation } });
  await held;
  expect(started).toMatchObject([
    { ownerId: "own_1", conversationId: START.conversationId, test: TEST, dynamicVariables: { company: "Acme" } },
  ]);
});

test("a transfer in a test's call ends it, calls nobody and tells nobody, whether a person was to be called first or not", async () => {
  for (const warm of [undefined, { summary: "", acceptWithinMs: 20_000 }]) {
    const conversations = fakeConversations();
    conversations.script = () => [
      words("I connect you."),
      {
        $case: "action",
        value: { action: { $case: "transferCall", value: { phoneNumber: "+14155550100", warm } } },
      } as never,
      complete,
    ];
    const dialPerson = () => Promise.reject(new Error("was called"));
    const call = holding(
      ["a person please"],
      { lines: [{ text: "A person, please." }] },
      { conversations, dialPerson },
    );
    await call.held;
    expect(call.news.at(-1)).toEqual({
      $case: "end",
      value: { endedBy: "agent", reason: "Transferred to +14155550100" },
    });
    expect(call.transfers).toEqual([]);
  }
});

test("an agent whose model hears and speaks is tested in the same way", async () => {
  const conversations = fakeConversations({ llm: undefined, prompt: "You are Ada.", greeting: "Hello there." });
  const sts = toneSts("when do you open", "At nine.");
  const { held, news } = holding([], { lines: [{ text: "When do you open?" }] }, { conversations, sts });
  await held;
  expect(turnsOf(news)).toEqual([
    ["", "Hello there."],
    ["when do you open", "At nine."],
  ]);
});

test("a test's call whose caller leaves ends, and so does its conversation", async () => {
  const call = holding([], { until: new Promise(() => {}) });
  call.gone.abort();
  expect(await serviceErrorOf(call.held)).toMatchObject({ kind: "cancelled" });
  expect(call.conversations.completed).toHaveLength(1);
});

test("a test's call in a process that stops is refused as unavailable, so that it is held again elsewhere", async () => {
  const call = holding([], { until: new Promise(() => {}) });
  call.stopping.abort();
  expect(await serviceErrorOf(call.held)).toMatchObject({ kind: "unavailable" });
  expect(call.conversations.completed).toHaveLength(1);
});

test.each([
  [{ text: "" }, "A line must have a text or keys"],
  [{ text: "Hi.", noise: "rain" }, "noise must be cafe or street"],
  [{ text: "Hi.", dtmf: "12a" }, "dtmf must be 1 to 32 of 0-9, *, # and w"],
  [{ text: "Hi.", interruptAtMs: -1 }, "interrupt_at_ms must be 0 to 60000"],
])("a test's call with a wrong line ends with what is wrong: %j", async (line, message) => {
  const call = holding([], { lines: [line] });
  expect(await serviceErrorOf(call.held)).toMatchObject({ kind: "invalid", detail: message });
  expect(call.conversations.completed).toHaveLength(1);
});
