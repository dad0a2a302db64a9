import { expect, test } from "bun:test";
import type { Pcm } from "../../src/audio/pcm.ts";
import { NotConnected } from "../../src/call/port.ts";
import type { DialPerson } from "../../src/call/warm/people.ts";
import type { CallRecorder } from "../../src/recording/record-call.ts";
import type { SpeechEvent, SpeechToText } from "../../src/speech/stt.ts";
import type { LegListener } from "../../src/transport/leg.ts";
import { complete, fakeConversations, words } from "../kit/fake-conversations.ts";
import { fakeTime, settle } from "../kit/fake-time.ts";
import { newCall } from "../kit/scripted-call.ts";
import { type ScriptedLeg, scriptedLeg } from "../kit/scripted-leg.ts";
import { FAR_END } from "../media-stream/carrier.ts";

const [OWN, PERSON] = ["+14155550100", "+14155550199"];
const BRIEFING = "A customer asks about an invoice. Press 1 to take the call.";
const BACK = "Nobody is free. Can I help you?";

/** Hears each party with a stream of its own. */
function hearing() {
  const parties: ((event: SpeechEvent) => void)[] = [];
  const heard: number[] = [];
  const stt: SpeechToText = {
    endsTurns: true,
    listen: (_options, told) => {
      const party = parties.push(told) - 1;
      heard[party] = 0;
      return {
        send: (audio) => {
          if (audio.some((sample) => sample !== 0)) heard[party] = (heard[party] ?? 0) + 1;
        },
        finalize: () => queueMicrotask(() => told({ type: "finalized" })),
        setLanguage: () => {},
        close: () => {},
      };
    },
  };
  const says = async (party: number, text: string) => {
    parties[party]?.({ type: "final", text });
    parties[party]?.({ type: "end_of_turn" });
    await settle();
  };
  return { stt, says, heard };
}

/** A call whose agent has decided to connect the user, who waits while the person's phone rings. */
async function transferring(
  given: {
    dial?: () => Promise<void>;
    acceptSeconds?: number;
    verdict?: string;
    holdSound?: string;
    recordings?: ReturnType<typeof keptRecording>;
  } = {},
) {
  const time = fakeTime();
  const conversations = fakeConversations({ recording: given.recordings !== undefined });
  conversations.model = (instruction) => (instruction.includes("colleague") ? BRIEFING : (given.verdict ?? "unclear"));
  const { holdSound = "ringing", acceptSeconds = 30 } = given;
  const warm = { briefing: "Say who it is.", holdSound, acceptSeconds };
  const told: (string | undefined)[] = [];
  conversations.script = (turn) => {
    told.push(turn.told);
    if (turn.told !== undefined) return [words(BACK), complete];
    const action = { $case: "transferCall" as const, value: { phoneNumber: PERSON, warm } };
    return [words("One moment, please."), { $case: "action", value: { action } }, complete];
  };
  const ears = hearing();
  let person: ScriptedLeg | undefined;
  let listener: LegListener | undefined;
  let dialled: Parameters<DialPerson>[0] | undefined;
  const call = await newCall({
    time,
    conversations,
    ...(given.recordings && { recordings: given.recordings }),
    hearing: { ...ears.stt, report: () => {} } as never,
    request: {
      channel: { type: "TELEPHONY", callingType: "INBOUND", toMobileNumber: OWN, fromMobileNumber: "+14155550101" },
    },
    dialPerson: async (asked, to, signal) => {
      dialled = asked;
      await given.dial?.();
      signal.throwIfAborted();
      listener = to;
      person = scriptedLeg(time, to);
      return person;
    },
  });
  await ears.says(0, "A person, please.");
  await time.pass(2_000);
  return {
    ...call,
    ears,
    told,
    dialled: () => dialled,
    person: () => person as ScriptedLeg,
    /** The person does something. */
    on: () => listener as LegListener,
  };
}

const loud = (value: number): Pcm => new Int16Array(320).fill(value);

test("a user waits with a sound while the person is called from the agent's number and told what it is about", async () => {
  const call = await transferring();
  expect(call.dialled()).toEqual({ ownerId: "own_1", agentId: "agt_1", from: OWN, to: PERSON });
  await call.time.pass(8_000);
  expect(call.voice.said).toEqual(["One moment, please.", BRIEFING]);
  expect(call.person().played.length).toBeGreaterThan(0);
  // The ringing tone comes every five seconds.
  expect(call.leg.sent.slice(-250).some((frame) => frame?.some((sample) => sample !== 0))).toBeTrue();
  expect(call.leg.hungUp).toBeFalse();
});

/** Keeps the first sample of each frame that is not silent. */
function keptRecording() {
  const [ofUser, ofOthers]: [number[], number[]] = [[], []];
  const keep = (kept: number[]) => (frame: Pcm) => void (frame[0] !== 0 && kept.push(frame[0] as number));
  const recorder: CallRecorder = {
    begin: () => {},
    heard: keep(ofUser),
    sent: keep(ofOthers),
    cut: () => {},
    end: async () => {},
  };
  return { ofUser, ofOthers, begin: async () => recorder, addressOf: async () => null, finish: async () => {} };
}

test("a recording has both people after the connection, and neither the briefing nor what the user says on hold", async () => {
  const kept = keptRecording();
  const call = await transferring({ recordings: kept, holdSound: "none" });
  const ofAgent = kept.ofOthers.length;
  call.listener().heard(loud(3_000));
  await call.time.pass(8_000);
  expect(call.person().played.length).toBeGreaterThan(0);
  call.on().pressed("1");
  await settle();
  call.listener().heard(loud(1_000));
  call.on().heard(loud(2_000));
  await call.time.pass(100);
  expect([kept.ofUser, kept.ofOthers.slice(ofAgent)]).toEqual([[1_000], [2_000]]);
});

test("nothing that a user says while waiting reaches a model or the transcript", async () => {
  const call = await transferring();
  const heard = call.ears.heard[0];
  await call.ears.says(0, "Hello? Is anybody there?");
  await call.time.pass(5_000);
  expect(call.ears.heard[0]).toBe(heard as number);
  expect(call.conversations.asked).toEqual(["A person, please."]);
  expect(call.conversations.lines).toEqual(["user: A person, please.", "assistant: One moment, please."]);
});

test.each([
  ["presses 1", "unclear", (call: Awaited<ReturnType<typeof transferring>>) => call.on().pressed("1")],
  ["says yes", "Accepted.", (call: Awaited<ReturnType<typeof transferring>>) => call.ears.says(1, "Yes, go ahead.")],
])("when the person %s, both hear each other, and what they say is stored", async (_how, verdict, accept) => {
  const call = await transferring({ verdict });
  await call.time.pass(4_000);
  await accept(call);
  await settle();
  const before = call.person().played.length;
  call.listener().heard(loud(1_000));
  call.on().heard(loud(2_000));
  await call.time.pass(100);
  expect(call.person().played.slice(before)).toEqual([1_000]);
  expect(call.leg.played.at(-1)).toBe(2_000);
  await call.ears.says(2, "Hello.");
  await call.ears.says(3, "Hi, this is Bob.");
  await call.leaves();
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: `Connected to ${PERSON}` });
  expect(call.transfers).toEqual([`warm accepted ${PERSON}`]);
  expect(call.person().hungUp).toBeTrue();
  expect(call.conversations.lines).toEqual([
    "user: A person, please.",
    "assistant: One moment, please.",
    "user: Hello.",
    "person: Hi, this is Bob.",
  ]);
});

test("when the person hangs up, the call of the user ends too, with a note", async () => {
  const call = await transferring();
  call.on().pressed("1");
  await settle();
  call.on().ended("hung_up");
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: `Connected to ${PERSON}` });
  expect(call.leg.hungUp).toBeTrue();
});

const refused = (how: NotConnected["how"]) => () => Promise.reject(new NotConnected(how, how));
test.each([
  ["is busy", "declined", { dial: refused("busy") }, null],
  ["does not pick up", "no answer", { dial: refused("no_answer") }, null],
  ["cannot be reached", "failed", { dial: refused("failed") }, null],
  ["presses another key", "declined", {}, (on: LegListener) => on.pressed("2")],
  ["hangs up", "declined", {}, (on: LegListener) => on.ended("hung_up")],
  ["says nothing", "no answer", { acceptSeconds: 5 }, null],
  ["says no", "declined", { verdict: "declined" }, "No, not now."],
] as const)(
  "when the person %s, the model is told that it was %s, and the agent is back",
  async (_, told, given, acts) => {
    const call = await transferring(given);
    await call.time.pass(4_000);
    if (typeof acts === "function") acts(call.on());
    else if (acts) await call.ears.says(1, acts);
    await call.time.pass(10_000);
    expect(call.told.at(-1)).toContain(told);
    expect(call.transfers).toEqual([`warm ${told.replace(" ", "_")} ${PERSON}`]);
    expect(call.conversations.lines.at(-1)).toBe(`assistant: ${BACK}`);
    expect(call.leg.hungUp).toBeFalse();
    if (call.person()) expect(call.person().hungUp || _ === "hangs up").toBeTrue();
  },
);

test("the person has as long to accept as the agent gives, from the end of the briefing on", async () => {
  const call = await transferring({ acceptSeconds: 60 });
  await call.time.pass(55_000);
  call.on().pressed("1");
  await settle();
  await call.leaves();
  expect(await call.ended).toMatchObject({ notes: `Connected to ${PERSON}` });
});

test("a user who hangs up while waiting ends the call, and the person is hung up", async () => {
  const call = await transferring();
  await call.leaves();
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: null });
  expect(call.person().hungUp).toBeTrue();
  expect(call.transfers).toEqual([`warm failed ${PERSON}`]);
});

test("a call whose user has left is not over before the carrier has been told to give the person up", async () => {
  const dialling = Promise.withResolvers<void>();
  const call = await transferring({ dial: () => dialling.promise });
  let isOver = false;
  void call.ended.then(() => {
    isOver = true;
  });
  await call.leaves();
  expect([call.leg.hungUp, isOver]).toEqual([true, false]);
  dialling.resolve();
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: null });
});

test("a process that stops hangs up both people", async () => {
  const call = await transferring();
  call.on().pressed("1");
  await settle();
  const drained = call.all.drain(0);
  await call.time.pass(10);
  await drained;
  expect([call.leg.hungUp, call.person().hungUp]).toEqual([true, true]);
});

test("another process could hang up both people if this one died", async () => {
  const call = await transferring();
  expect(call.farEnds.at(-1)).toEqual({ type: "several", ends: [FAR_END, FAR_END] });
});

test("a person is not called at a number that agents may not call", async () => {
  const call = await transferring();
  expect(call.dialled()?.to).toBe(PERSON);
  const conversations = fakeConversations();
  const warm = { briefing: "Say who it is.", holdSound: "none", acceptSeconds: 30 };
  const action = { $case: "transferCall" as const, value: { phoneNumber: "+19005550123", warm } };
  conversations.script = ({ told }) =>
    told ? [words(told), complete] : [words("One moment."), { $case: "action", value: { action } }, complete];
  const other = await newCall({ conversations, dialPerson: () => Promise.reject(new Error("was called")) });
  await other.asks("A person, please.");
  await other.time.pass(15_000);
  expect(conversations.lines.at(-1)).toContain(
    "failed: the person could not be called. The call is not transferred to",
  );
});
