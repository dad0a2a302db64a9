import { expect, test } from "bun:test";
import { Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { CallCommand } from "../../src/call/operator/commands.ts";
import { fakeConversations, says } from "../kit/fake-conversations.ts";
import { newCall, REQUEST } from "../kit/scripted-call.ts";
import { scriptedSts } from "../kit/scripted-sts.ts";

type Call = Awaited<ReturnType<typeof newCall>>;

/** @returns why the call cannot do it; null if it does */
async function command(call: Call, wanted: CallCommand): Promise<string | null | undefined> {
  const key = { ownerId: REQUEST.ownerId, conversationId: call.conversationId };
  return (await call.all.command(key, wanted))?.refusal;
}

test("what an operator has the agent say interrupts it, and is stored as the operator's", async () => {
  const conversations = fakeConversations();
  conversations.script = says("We open at nine in the morning, and on Sundays at ten. Do come and see us.");
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(600);
  expect(await command(call, { $case: "say", value: "One moment, a colleague joins." })).toBe(null);
  await call.time.pass(3_000);
  expect(call.voice.said.at(-1)).toBe("One moment, a colleague joins.");
  expect(conversations.lines.at(-1)).toBe("operator: One moment, a colleague joins.");
  expect(conversations.lines.at(-2)?.length).toBeLessThan(60);
});

test("while the agent is muted, the caller is transcribed, the model is not asked, and what was being said stops", async () => {
  const conversations = fakeConversations();
  conversations.script = says("We open at nine in the morning, and on Sundays at ten. Do come and see us.");
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(600);
  expect(await command(call, { $case: "mute", value: true })).toBe(null);
  const played = call.leg.played.length;
  const asked = conversations.asked.length;
  await call.asks("Are you there?");
  await call.time.pass(3_000);
  expect(conversations.lines.at(-1)).toBe("user: Are you there?");
  expect([call.leg.played.length, conversations.asked.length]).toEqual([played, asked]);
  expect(await command(call, { $case: "mute", value: false })).toBe(null);
  await call.asks("And now?");
  expect(conversations.asked.length).toBe(asked + 1);
});

test("an operator transfers the caller, and what the agent said stops", async () => {
  const call = await newCall();
  await call.asks("A person, please.");
  expect(await command(call, { $case: "transfer", value: "+14155550199" })).toBe(null);
  await call.time.pass(100);
  expect(call.leg.transfers).toEqual(["+14155550199"]);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS", notes: "Transferred to +14155550199" });
});

test("an operator ends a call at once, or after the last words", async () => {
  const call = await newCall();
  await call.asks("Hello?");
  expect(await command(call, { $case: "end", value: { message: "" } })).toBe(null);
  expect(await call.ended).toMatchObject({ outcome: "SUCCESS" });
  const second = await newCall();
  await second.asks("Hello?");
  expect(await command(second, { $case: "end", value: { message: "Goodbye from all of us." } })).toBe(null);
  await second.time.pass(3_000);
  expect(await second.ended).toMatchObject({ outcome: "SUCCESS" });
  expect(second.voice.said.at(-1)).toBe("Goodbye from all of us.");
});

test("while a speech-to-speech model is muted, the caller is transcribed, what it says is not heard, and an operator may speak", async () => {
  const [conversations, sts] = [fakeConversations(), scriptedSts()];
  const call = await newCall({ conversations, sts });
  sts.report({ type: "user_said", text: "When do you open?" });
  sts.speaks("We open at nine in the morning, and on Sundays at ten.");
  await call.time.pass(600);
  expect(await command(call, { $case: "mute", value: true })).toBe(null);
  expect(sts.isMuted).toBe(true);
  const played = call.leg.played.length;
  sts.report({ type: "user_began" });
  sts.report({ type: "user_said", text: "Are you there?" });
  sts.speaks("An answer that was on its way.");
  await call.time.pass(60_000);
  expect(conversations.lines.at(-1)).toBe("user: Are you there?");
  expect(call.leg.played.length).toBe(played);
  await command(call, { $case: "say", value: "A colleague is with you." });
  await call.time.pass(3_000);
  expect(call.leg.played.length).toBeGreaterThan(played);
  expect(conversations.lines.at(-1)).toBe("operator: A colleague is with you.");
  expect(await command(call, { $case: "mute", value: false })).toBe(null);
  expect(sts.isMuted).toBe(false);
  sts.report({ type: "user_said", text: "And now?" });
  sts.speaks("Now too.");
  sts.report({ type: "done" });
  await call.time.pass(3_000);
  expect(conversations.lines.at(-1)).toBe("assistant: Now too.");
});

test("a speech-to-speech model learns what an operator lets it know, and so does a later connection", async () => {
  const sts = scriptedSts();
  const call = await newCall({ sts });
  expect(await command(call, { $case: "inject", value: "The caller is a VIP." })).toBe(null);
  expect(sts.informed).toEqual([expect.stringMatching(/ without the user hearing it: The caller is a VIP\.$/)]);
  expect(sts.options?.history()).toEqual([{ role: "system", text: sts.informed[0] ?? "" }]);
});

test("a call is reported word by word once somebody watches it, and not before", async () => {
  const conversations = fakeConversations();
  const call = await newCall({ conversations });
  await call.asks("When do you open?");
  await call.time.pass(2_000);
  expect(conversations.reports).toEqual([]);
  call.all.watched({ ownerId: REQUEST.ownerId, conversationId: call.conversationId });
  call.speaks("And on");
  call.speaks("And on Sundays?");
  await call.time.pass(10);
  const words = conversations.reports.flatMap(({ report }) => (report?.$case === "words" ? [report.value] : []));
  expect(words.map(({ role, offset, text }) => [role, offset, text])).toEqual([
    [Role.ROLE_USER, 0, "And on"],
    [Role.ROLE_USER, 6, " Sundays?"],
  ]);
});
