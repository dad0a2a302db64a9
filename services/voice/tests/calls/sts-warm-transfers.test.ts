import { expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import type { Pcm } from "../../src/audio/pcm.ts";
import type { LegListener } from "../../src/transport/leg.ts";
import { fakeConversations } from "../kit/fake-conversations.ts";
import { fakeTime, settle } from "../kit/fake-time.ts";
import { newCall } from "../kit/scripted-call.ts";
import { type ScriptedLeg, scriptedLeg } from "../kit/scripted-leg.ts";
import { stsSessions } from "../kit/scripted-sts.ts";

const PERSON = "+14155550199";
const loud = (value: number): Pcm => new Int16Array(320).fill(value);

/** A caller of an agent with speech to speech, who waits while a person listens to it. */
async function transferring() {
  const time = fakeTime();
  const warm = { briefing: "Say who it is.", holdSound: "none", acceptSeconds: 30 };
  const runCallTool = async () => {
    const action = { action: { $case: "transferCall" as const, value: { phoneNumber: PERSON, warm } } };
    return { result: "After this reply the user waits.", isError: false, action, clientCall: undefined };
  };
  const conversations = { ...fakeConversations(), runCallTool };
  const sts = stsSessions();
  let person: ScriptedLeg | undefined;
  let listener: LegListener | undefined;
  const call = await newCall({
    ...{ time, conversations, sts },
    dialPerson: async (_, to) => {
      listener = to;
      person = scriptedLeg(time, to);
      return person;
    },
  });
  const agent = sts.newest();
  agent.report({ type: "user_began" });
  agent.report({ type: "user_said", text: "A person, please." });
  agent.report({ type: "tool_call", callId: "c1", name: "transfer_call", arguments: {} });
  await settle();
  agent.speaks("One moment.");
  agent.report({ type: "done" });
  await time.pass(2_000);
  const envoy = sts.newest();
  expect(sts.all).toHaveLength(2);
  return { ...call, agent, envoy, person: person as ScriptedLeg, on: listener as LegListener };
}

test("the agent's model tells the person what it is about in a session of its own, which the user does not hear", async () => {
  const call = await transferring();
  expect(call.envoy.options?.prompt).toContain("Say who it is.");
  expect(call.envoy.options?.prompt).toContain("user: A person, please.");
  const before = call.leg.played.length;
  const ofUser = call.agent.heardFrames;
  call.envoy.speaks("A caller asks for you.", 7);
  call.envoy.report({ type: "done" });
  call.listener().heard(loud(1_000));
  call.on.heard(loud(2_000));
  await call.time.pass(2_000);
  expect(call.person.played).toContain(7);
  expect([call.leg.played.length, call.agent.heardFrames, call.envoy.heardFrames]).toEqual([before, ofUser, 1]);
});

test.each([
  ["agrees", (call: Awaited<ReturnType<typeof transferring>>) => decide(call, "take_the_call")],
  ["presses 1", (call: Awaited<ReturnType<typeof transferring>>) => call.on.pressed("1")],
])(
  "a person who %s is connected with the user of a speech-to-speech agent, whose model has left",
  async (_, accept) => {
    const call = await transferring();
    accept(call);
    await settle();
    expect([call.agent.isOpen, call.envoy.isOpen]).toEqual([false, false]);
    call.listener().heard(loud(1_000));
    call.on.heard(loud(2_000));
    await call.time.pass(100);
    expect([call.person.played.at(-1), call.leg.played.at(-1)]).toEqual([1_000, 2_000]);
    await call.leaves();
    expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: `Connected to ${PERSON}` });
    expect(call.person.hungUp).toBeTrue();
    expect(call.transfers).toEqual([`warm accepted ${PERSON}`]);
  },
);

test.each([
  ["declines", "declined", (call: Awaited<ReturnType<typeof transferring>>) => decide(call, "decline_the_call")],
  [
    "cannot be told anything",
    "failed",
    (call: Awaited<ReturnType<typeof transferring>>) =>
      call.envoy.report({ type: "failed", error: new ServiceError("upstream_failed", "gone") }),
  ],
])("when the person %s, the model is told that it %s, and talks with the user again", async (_, told, act) => {
  const call = await transferring();
  act(call);
  await settle();
  expect(call.agent.told).toEqual([expect.stringContaining(told)]);
  expect(call.transfers).toEqual([`warm ${told} ${PERSON}`]);
  expect([call.person.hungUp, call.leg.hungUp, call.envoy.isOpen]).toEqual([true, false, false]);
  call.agent.speaks("Nobody is free.");
  call.agent.report({ type: "done" });
  await call.time.pass(2_000);
  expect(call.conversations.lines.at(-1)).toBe("assistant: Nobody is free.");
});

test("a person who talks over the agent interrupts it, and has their time to accept from the end of its first words on", async () => {
  const call = await transferring();
  call.envoy.speaks("A caller asks for you, because of an invoice that is not right.");
  await call.time.pass(400);
  call.envoy.report({ type: "user_began" });
  expect(call.envoy.interrupted[0]).toBeWithin(300, 500);
  call.envoy.speaks("Yes?");
  call.envoy.report({ type: "done" });
  await call.time.pass(31_000);
  expect(call.agent.told).toEqual([expect.stringContaining("no answer")]);
});

function decide(call: Awaited<ReturnType<typeof transferring>>, name: string) {
  call.envoy.report({ type: "tool_call", callId: "d1", name, arguments: {} });
}
