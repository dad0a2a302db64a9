import { expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import type { CommonParts, EndedTransfer } from "../src/call/held-call.ts";
import { holdCall } from "../src/call/hold-call.ts";
import { type StsParts, stsAgent } from "../src/call/speech-to-speech/agent.ts";
import type { StsModel } from "../src/call/speech-to-speech/model.ts";
import type { CallPlace } from "../src/call/speech-to-speech/tools.ts";
import { rulesOf } from "../src/call/speech-to-speech/tools.ts";
import { LINES, SILENCE_MS, type TurnSettings } from "../src/turn/settings.ts";
import { fakeTime, settle } from "./kit/fake-time.ts";
import { scriptedLeg } from "./kit/scripted-leg.ts";
import { scriptedDetector } from "./kit/scripted-speech.ts";
import { type ScriptedSts, scriptedSts } from "./kit/scripted-sts.ts";

function modelWith(sts: ScriptedSts, greeting = ""): StsModel {
  return {
    ...{ provider: "OPENAI", sts, greeting },
    conversing: { model: "m", params: {}, prompt: "You are Ada.", tools: [] },
    rulesOf: () => rulesOf(undefined),
    successorOf: () => null,
  };
}

const NO_SOUND = { type: "audio", audio: new Int16Array() } as const;
const REPLY = "We open at nine in the morning, and on Sundays at ten.";

/** A call with a scripted model, on a scripted leg. */
async function newCall(
  given: Partial<StsParts & CommonParts & Pick<TurnSettings, "idle">> = {},
  transfer: Parameters<typeof scriptedLeg>[2] = "succeeds",
) {
  const time = fakeTime();
  const sts = scriptedSts();
  const detector = scriptedDetector();
  const lines: string[] = [];
  const tools: string[] = [];
  const places: CallPlace[] = [];
  const latencies: unknown[] = [];
  const starts: (number | null | undefined)[] = [];
  const parts: StsParts & CommonParts = {
    model: modelWith(sts, given.greeting),
    modelOf: async () => {
      throw new Error("has no other agent");
    },
    lastSequence: 0,
    runTool: async ({ name }, place) => {
      tools.push(name);
      places.push(place);
      const action = name === "end_call" ? { $case: "endCall" as const, value: {} } : null;
      const transfer = { $case: "transferCall" as const, value: { phoneNumber: "+14155550199" } };
      const keys = { $case: "sendDtmf" as const, value: { keys: "42#" } };
      const decided = name === "transfer_call" ? transfer : name === "send_dtmf" ? keys : action;
      return {
        result: `did ${name}`,
        isError: false,
        action: decided ? { action: decided } : undefined,
        clientCall: undefined,
      };
    },
    detector,
    transcript: {
      append: (role, text, latency, startedAt) => {
        lines.push(`${role}: ${text}`);
        starts.push(startedAt);
        latencies.push(latency);
      },
    },
    greeting: "",
    lines: LINES,
    clock: time,
    log: silentLogger,
    background: null,
    recorder: null,
    ...given,
  };
  const settings = { isSpeechToSpeech: true, endsTurns: true, silenceMs: SILENCE_MS, idle: given.idle ?? null };
  const held = holdCall(parts, settings, (call) => stsAgent(parts, call));
  const leg = scriptedLeg(time, held.listener, transfer);
  held.connected(leg);
  await settle();
  return { ...held, time, sts, detector, leg, lines, tools, places, latencies, starts };
}

test("a call is held: greeting, question, answer, farewell, and the end that the model decides", async () => {
  const call = await newCall({ greeting: "Front desk, how can I help?" });
  await call.time.pass(2_000);
  call.sts.report({ type: "user_began" });
  call.sts.report({ type: "user_said", text: "When do you open?" });
  call.sts.speaks("At nine.");
  call.sts.report({ type: "done" });
  await call.time.pass(1_000);
  call.sts.report({ type: "user_said", text: "Bye." });
  call.sts.report({ type: "tool_call", callId: "c1", name: "end_call", arguments: {} });
  call.sts.report({ type: "done" });
  await call.time.pass(100);
  expect(call.sts.answers).toEqual(["c1: did end_call"]);
  expect(call.leg.hungUp).toBe(false);
  call.sts.speaks("Goodbye then!");
  call.sts.report({ type: "done" });
  await call.time.pass(1_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", reason: "agent_ended" });
  expect(call.lines).toEqual([
    "assistant: Front desk, how can I help?",
    "user: When do you open?",
    "assistant: At nine.",
    "user: Bye.",
    "assistant: Goodbye then!",
  ]);
  expect(call.leg.hungUp).toBe(true);
  expect(call.sts.isOpen).toBe(false);
});

test("a user who interrupts stops the agent immediately; the model learns how much was heard, and that is stored", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_said", text: "When do you open?" });
  call.sts.speaks(REPLY);
  await call.time.pass(810);
  const played = call.leg.played.length;
  call.sts.report({ type: "user_began" });
  await call.time.pass(1_000);
  expect(call.leg.played).toHaveLength(played);
  expect(call.sts.interrupted).toEqual([played * 20]);
  const heard = call.lines[1]?.replace("assistant: ", "") ?? "";
  expect(heard).not.toBe("");
  expect(REPLY.startsWith(heard)).toBeTrue();
  expect(heard.length).toBeLessThan(REPLY.length / 2);
});

test("what the user said is stored before the answer to it, even if the model reports it later", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_began" });
  call.sts.speaks("At nine.");
  call.sts.report({ type: "done" });
  await call.time.pass(1_000);
  expect(call.lines).toEqual([]);
  call.sts.report({ type: "user_said", text: "When do you open?" });
  expect(call.lines).toEqual(["user: When do you open?", "assistant: At nine."]);
  expect(call.sts.options?.history()).toEqual([
    { role: "user", text: "When do you open?" },
    { role: "assistant", text: "At nine." },
  ]);
});

test("a voice without words delays storing by at most five seconds", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_began" });
  call.sts.speaks("Pardon?");
  call.sts.report({ type: "done" });
  await call.time.pass(6_000);
  expect(call.lines).toEqual(["assistant: Pardon?"]);
});

test("a tool call is placed in the reply that is spoken, or else in the next one, whatever has been told by then", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_began" });
  call.sts.speaks("One moment.");
  const asks = (callId: string) => call.sts.report({ type: "tool_call", callId, name: "weather", arguments: {} });
  asks("in the first reply, whose question is not told yet");
  await call.time.pass(10);
  call.sts.report({ type: "user_said", text: "Is it cold?" });
  call.sts.speaks("It is.");
  call.sts.report({ type: "done" });
  await call.time.pass(2_000);
  expect(call.lines).toEqual(["user: Is it cold?", "assistant: One moment.It is."]);
  asks("before the next reply");
  expect(call.places).toEqual([
    { messages: 1, offset: "One moment.".length },
    { messages: 2, offset: 0 },
  ]);
});

test("a reply has the latency from the end of the user's voice, and what the agent says by itself has none", async () => {
  const call = await newCall({ greeting: "Hello.", idle: { afterMs: 5_000, remindersMax: 1 } });
  await call.time.pass(1_000);
  call.detector.report({ type: "speech_began", agoMs: 0 });
  await call.time.pass(1_000);
  call.detector.report({ type: "speech_ended", agoMs: 100 });
  call.sts.report({ type: "user_said", text: "When do you open?" });
  await call.time.pass(300);
  call.sts.speaks("At nine.");
  call.sts.report({ type: "done" });
  await call.time.pass(2_000);
  call.detector.report({ type: "speech_began", agoMs: 0 });
  call.detector.report({ type: "speech_ended", agoMs: 0 });
  await call.time.pass(7_000);
  expect(call.lines).toEqual([
    "assistant: Hello.",
    "user: When do you open?",
    "assistant: At nine.",
    `assistant: ${LINES.reminder}`,
  ]);
  expect(call.latencies).toEqual([
    undefined,
    undefined,
    { firstAudioMs: 400, audibleMs: expect.any(Number) },
    undefined,
  ]);
});

test("each message is stored with the moment at which its first word was heard", async () => {
  const call = await newCall();
  await call.time.pass(1_000);
  call.sts.report({ type: "user_began" });
  await call.time.pass(900);
  call.sts.report({ type: "user_said", text: "When do you open?" });
  await call.time.pass(500);
  call.sts.speaks("At nine.");
  call.sts.report({ type: "done" });
  await call.time.pass(1_000);
  expect(call.lines).toEqual(["user: When do you open?", "assistant: At nine."]);
  expect(call.starts[0]).toBe(1_000);
  expect(call.starts[1]).toBeCloseTo(2_400, -2);
});

test("a transfer follows the last word, and one that fails is apologized for", async () => {
  const ended: EndedTransfer[] = [];
  const call = await newCall({ transferEnded: (transfer) => ended.push(transfer) }, "fails");
  call.sts.report({ type: "user_said", text: "A person, please." });
  call.sts.report({ type: "tool_call", callId: "c", name: "transfer_call", arguments: {} });
  await call.time.pass(100);
  call.sts.speaks("One moment, please.");
  call.sts.report({ type: "done" });
  expect(call.leg.transfers).toEqual([]);
  await call.time.pass(1_000);
  expect(call.leg.transfers).toEqual(["+14155550199"]);
  expect(call.sts.said).toEqual([LINES.not_transferred]);
  expect(ended).toEqual([{ to: "+14155550199", mode: "blind", outcome: "failed" }]);
  expect(call.leg.hungUp).toBe(false);
});

test("a model that has pressed keys may say nothing, and hears what answers them", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_said", text: "Press four two." });
  call.sts.report({ type: "tool_call", callId: "c", name: "send_dtmf", arguments: { keys: "42#" } });
  await call.time.pass(100);
  expect(call.leg.pressed).toEqual(["42#"]);
  expect(call.sts.answers).toEqual(["c: did send_dtmf"]);
  call.sts.report({ type: "done" });
  await call.time.pass(20_000);
  expect(call.sts.said).toEqual([]);
  expect(call.leg.hungUp).toBe(false);
  call.sts.report({ type: "user_said", text: "Thank you." });
  expect(call.lines).toEqual(["user: Press four two.", "user: Thank you."]);
});

test("a model is told that keys could not be pressed", async () => {
  const call = await newCall();
  call.leg.keysFault = new ServiceError("condition", "The other side of the call takes no keys");
  call.sts.report({ type: "tool_call", callId: "c", name: "send_dtmf", arguments: { keys: "42#" } });
  await call.time.pass(100);
  expect(call.sts.answers).toEqual(["c: Keys could not be pressed: The other side of the call takes no keys"]);
});

test("a model may end the call without a word", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_said", text: "Bye." });
  call.sts.report({ type: "tool_call", callId: "c", name: "end_call", arguments: {} });
  await call.time.pass(5_100);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
});

test("a tool that cannot be run is reported to the model as such", async () => {
  const call = await newCall({ runTool: () => Promise.reject(new ServiceError("unavailable", "away")) });
  call.sts.report({ type: "tool_call", callId: "c", name: "weather", arguments: "no object" });
  await call.time.pass(10);
  expect(call.sts.answers).toEqual(["c: The tool does not work now. Tell the user."]);
});

test.each([
  ["says nothing", () => {}],
  ["sends empty audio", (call: Awaited<ReturnType<typeof newCall>>) => call.sts.report(NO_SOUND)],
])("a model that %s is given up within 15 s, which include an apology that may fail too", async (_what, stall) => {
  const call = await newCall();
  call.sts.obeys = false;
  call.sts.report({ type: "user_said", text: "When do you open?" });
  const pass = async (secondsMax: number) => {
    for (let seconds = 0; seconds < secondsMax; seconds++) {
      stall(call);
      await call.time.pass(1_000);
    }
  };
  await pass(10);
  expect(call.sts.said).toEqual([LINES.apology]);
  await pass(5);
  expect(await call.ended).toMatchObject({ outcome: "ERROR", reason: "failed" });
});

test("a model that stalls in the middle of a reply is given up, and the apology is heard", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_said", text: "When do you open?" });
  call.sts.speaks("We open");
  await call.time.pass(16_000);
  await call.time.pass(5_000);
  expect(await call.ended).toMatchObject({ outcome: "ERROR" });
  expect(call.lines).toEqual([
    "user: When do you open?",
    expect.stringMatching(/^assistant: We/),
    `assistant: ${LINES.apology}`,
  ]);
});

test("a model that does not react to a user who speaks is given up", async () => {
  const call = await newCall();
  for (let sentence = 0; sentence < 2; sentence++) {
    call.detector.report({ type: "speech_began", agoMs: 0 });
    await call.time.pass(1_500);
    call.detector.report({ type: "speech_ended", agoMs: 0 });
    await call.time.pass(1_000);
  }
  await call.time.pass(15_000);
  expect(call.sts.said).toEqual([LINES.apology]);
});

test("a model that fails ends the call with its reason, and what was heard is stored", async () => {
  const call = await newCall();
  call.sts.report({ type: "user_said", text: "When do you open?" });
  call.sts.speaks(REPLY);
  await call.time.pass(600);
  call.sts.report({ type: "failed", error: new ServiceError("upstream_failed", "OPENAI refused the key") });
  expect(await call.ended).toMatchObject({ outcome: "ERROR", notes: "OPENAI refused the key" });
  expect(call.lines).toHaveLength(2);
});

test("a silent user is reminded, and then the call ends", async () => {
  const call = await newCall({ idle: { afterMs: 5_000, remindersMax: 1 } });
  await call.time.pass(5_100);
  expect(call.sts.said).toEqual([LINES.reminder]);
  await call.time.pass(7_000);
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY", reason: "user_silent" });
});

test("a noise that the model took for the user does not keep the call open forever", async () => {
  const call = await newCall({ idle: { afterMs: 5_000, remindersMax: 0 } });
  call.sts.report({ type: "user_began" });
  await call.time.pass(11_000);
  expect(await call.ended).toMatchObject({ reason: "user_silent" });
});

test("a voice that never ends, in which the model hears no words, does not keep the call open forever", async () => {
  const call = await newCall({ idle: { afterMs: 5_000, remindersMax: 0 } });
  call.detector.report({ type: "speech_began", agoMs: 0 });
  call.sts.report({ type: "user_began" });
  await call.time.pass(40_000);
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY", reason: "user_silent" });
});

test("a call on hold waits, hears no music, and continues with the reply where it was", async () => {
  const call = await newCall({ idle: { afterMs: 5_000, remindersMax: 0 } });
  call.sts.report({ type: "user_said", text: "When do you open?" });
  call.sts.speaks(REPLY);
  call.sts.report({ type: "done" });
  await call.time.pass(500);
  call.leg.hold(true);
  const frames = call.sts.heardFrames;
  call.listener.heard(new Int16Array(320));
  expect(call.sts.heardFrames).toBe(frames);
  await call.time.pass(120_000);
  expect(call.leg.hungUp).toBe(false);
  call.leg.hold(false);
  await call.time.pass(4_900);
  expect(call.lines.at(-1)).toBe(`assistant: ${REPLY}`);
  call.leg.hold(true);
  await call.time.pass(600_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", reason: "user_silent" });
});

test("pressed keys are a message from the user, and the first one stops the agent", async () => {
  const call = await newCall();
  call.sts.speaks(REPLY);
  await call.time.pass(500);
  call.listener.pressed("4");
  expect(call.sts.interrupted).toHaveLength(1);
  for (const key of ["2", "#"]) call.listener.pressed(key);
  expect(call.sts.told).toEqual(["[Pressed 42]"]);
  expect(call.sts.interrupted).toHaveLength(1);
  expect(call.lines.at(-1)).toBe("user: [Pressed 42]");
});

test("a machine that answers hears the message only, after its own greeting", async () => {
  const call = await newCall({ lines: { ...LINES, voicemail: "Please call us back." }, greeting: "Hello there!" });
  await call.time.pass(300);
  call.machineAnswered();
  const frames = call.sts.heardFrames;
  call.listener.heard(new Int16Array(320));
  expect(call.sts.heardFrames).toBe(frames);
  call.machineReady();
  await call.time.pass(3_000);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", reason: "left_message" });
  expect(call.lines.at(-1)).toBe("assistant: Please call us back.");
});

test("when a user leaves, what was heard is stored", async () => {
  const call = await newCall({ greeting: "Front desk, how can I help?" });
  await call.time.pass(410);
  call.listener.ended("hung_up");
  expect(await call.ended).toMatchObject({ outcome: "HUNG_UP_EARLY" });
  expect(call.lines[0]).toStartWith("assistant: Front desk,");
});
