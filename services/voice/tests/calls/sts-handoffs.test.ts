import { expect, test } from "bun:test";
import {
  type GetCallSetupRequest,
  GetCallSetupResponse,
  type HandOver,
  type RunCallToolRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { type FakeConversations, fakeConversations } from "../kit/fake-conversations.ts";
import { settle } from "../kit/fake-time.ts";
import { newCall } from "../kit/scripted-call.ts";
import { stsSessions } from "../kit/scripted-sts.ts";

const TOOL = "hand_over_to_agt_billing";
const DONE = { type: "done" } as const;

/** A call whose model hands over to another agent, having said what it says first. */
async function handing(
  given: Partial<HandOver> = {},
  setup: () => Promise<void> = async () => {},
  reports: "in time" | "late" = "in time",
) {
  const known = fakeConversations();
  const asked: (string | undefined)[] = [];
  const getCallSetup = async ({ agentId, conversationId }: GetCallSetupRequest) => {
    asked.push(conversationId);
    if (agentId !== "agt_billing")
      return GetCallSetupResponse.fromPartial({
        prompt: "You are Ada.",
        toolDefinitions: [{ name: TOOL, description: "", parameters: {}, handsOverTo: "agt_billing" }],
      });
    await setup();
    return GetCallSetupResponse.fromPartial({ prompt: "You are Ben.", greeting: "Hello, this is Ben." });
  };
  const value = {
    agentId: "agt_billing",
    voiceAgentId: "agt_billing",
    contextFrom: 1,
    message: "",
    greets: false,
    ...given,
  };
  const action = { action: { $case: "handOver" as const, value } };
  let held = Promise.resolve();
  const runCallTool = async (request: RunCallToolRequest) => {
    known.tools.push(request);
    if (request.name !== TOOL) {
      await held;
      return { result: "It is paid.", isError: false, action: undefined, clientCall: undefined };
    }
    return { result: "handed over", isError: false, action, clientCall: undefined };
  };
  const conversations: FakeConversations = { ...known, getCallSetup, runCallTool };
  const sts = stsSessions();
  const call = await newCall({ sts, conversations });
  const [first] = sts.all;
  if (!first) throw new Error("has no session");
  const says = (text: string) => {
    sts.newest().report({ type: "user_began" });
    sts.newest().report({ type: "user_said", text });
  };
  if (reports === "late") first.report({ type: "user_began" });
  else says("What about my invoice?");
  first.speaks("I pass you on.");
  first.report({ type: "tool_call", callId: "c1", name: TOOL, arguments: {} });
  await settle();
  /** Other tools answer when this is over. */
  const holds = (until: Promise<void>) => {
    held = until;
  };
  return { ...call, asked, sts, first, says, holds, second: () => sts.newest() };
}

test("an agent that takes over has its prompt, the conversation's variables and what was said, and answers the user", async () => {
  const call = await handing();
  expect(call.asked.at(-1)).toBe(call.conversationId);
  expect(call.sts.all).toHaveLength(2);
  expect(call.first.isOpen).toBeFalse();
  const { options, told } = call.second();
  expect(options).toMatchObject({ prompt: "You are Ben.", continues: true });
  expect(options?.history()).toEqual([{ role: "user", text: "What about my invoice?" }]);
  expect(told).toEqual([expect.stringContaining("answer the user now")]);
  call.first.report({ type: "text", text: "I am not heard anymore." });
  call.second().speaks("It is paid.");
  call.second().report(DONE);
  await call.time.pass(3_000);
  expect(call.conversations.lines).toEqual(["user: What about my invoice?", "assistant: I pass you on. It is paid."]);
  call.says("Thank you.");
  call.second().speaks("Goodbye.");
  call.second().report(DONE);
  await call.time.pass(3_000);
  expect(call.conversations.lines.at(-1)).toBe("assistant: Goodbye.");
});

test("the first agent says its message before the handoff, and the next one its greeting before it answers", async () => {
  const call = await handing({ message: "Ben will help you.", greets: true });
  expect(call.sts.all).toHaveLength(1);
  expect(call.first.answers).toEqual([expect.stringContaining("Ben will help you.")]);
  call.first.speaks(" Ben will help you.");
  call.first.report(DONE);
  await settle();
  expect(call.second().said).toEqual(["Hello, this is Ben."]);
  await call.time.pass(100);
  expect(call.second().told).toHaveLength(1);
  call.second().speaks("It is paid.");
  call.second().report(DONE);
  await call.time.pass(8_000);
  expect(call.conversations.lines.slice(1).join(" ")).toBe(
    "assistant: I pass you on. Ben will help you. Hello, this is Ben. It is paid.",
  );
});

test("an agent learns only of the messages that its handoff gives it", async () => {
  const call = await handing();
  call.second().speaks("It is paid.");
  call.second().report(DONE);
  await call.time.pass(3_000);
  call.says("And the next one?");
  const history = call.second().options?.history() ?? [];
  expect(history.map(({ text }) => text)).toEqual([
    "What about my invoice?",
    "I pass you on. It is paid.",
    "And the next one?",
  ]);
  const other = await handing({ contextFrom: 2 });
  expect(other.second().options?.history()).toEqual([]);
});

test("a user who interrupts the first agent's message is handed over, with what they said", async () => {
  const call = await handing({ message: "Ben will help you." });
  call.first.speaks(" Ben will");
  await call.time.pass(400);
  call.says("Quickly, please.");
  await settle();
  expect(call.sts.all).toHaveLength(2);
  expect(call.second().options?.history().at(-1)).toEqual({ role: "user", text: "Quickly, please." });
  expect(call.second().told).toHaveLength(1);
});

test("a first agent says its message whole though its model reports the user's words late", async () => {
  const call = await handing({ message: "Ben will help you." });
  call.first.speaks(" Ben will");
  call.first.report({ type: "user_said", text: "It is from May." });
  await settle();
  expect(call.sts.all).toHaveLength(1);
  call.first.speaks(" help you.");
  call.first.report(DONE);
  await settle();
  expect(call.sts.all).toHaveLength(2);
});

test("words that a user said over the first agent's message are not lost when its model answers them first", async () => {
  const call = await handing({ message: "Ben will help you." });
  call.first.speaks(" Ben will");
  await call.time.pass(400);
  call.first.report({ type: "user_began" });
  call.first.speaks("I am not heard.");
  expect(call.sts.all).toHaveLength(1);
  call.first.report({ type: "user_said", text: "Quickly, please." });
  await settle();
  expect(call.second().options?.history().at(-1)).toEqual({ role: "user", text: "Quickly, please." });
  expect(call.second().told).toHaveLength(1);
});

test("an agent that takes over from a model which answers a user without words answers in its place", async () => {
  const call = await handing({ message: "Ben will help you." });
  call.first.speaks(" Ben will");
  await call.time.pass(400);
  call.first.report({ type: "user_began" });
  call.first.speaks("I am not heard.");
  call.first.report(DONE);
  await call.time.pass(6_000);
  expect(call.second().told).toEqual([expect.stringContaining("answer the user now")]);
});

test("an agent that takes over knows the words that led to it, also if they are reported after the handoff", async () => {
  const call = await handing({}, undefined, "late");
  expect(call.sts.all).toHaveLength(1);
  call.first.report({ type: "user_said", text: "What about my invoice?" });
  await settle();
  expect(call.second().options?.history()).toEqual([{ role: "user", text: "What about my invoice?" }]);
  expect(call.second().told).toHaveLength(1);
  const silent = await handing({}, undefined, "late");
  await silent.time.pass(6_000);
  expect(silent.second().told).toHaveLength(1);
});

test("a first agent that does not say its message is handed over all the same", async () => {
  const call = await handing({ message: "Ben will help you." });
  await call.time.pass(6_000);
  expect(call.sts.all).toHaveLength(2);
  const broken = await handing({ message: "Ben will help you." });
  broken.first.report({ type: "failed", error: new ServiceError("upstream_failed", "gone") });
  await settle();
  expect([broken.sts.all.length, broken.leg.hungUp]).toEqual([2, false]);
});

test("an agent whose model cannot be had takes nothing over, and the model is told", async () => {
  const call = await handing({}, async () => {
    throw new ServiceError("condition", "Agent has no key");
  });
  expect(call.conversations.tools).toEqual([]);
  expect(call.first.answers).toEqual([expect.stringContaining("cannot take over")]);
  call.first.report({ type: "tool_call", callId: "c2", name: TOOL, arguments: {} });
  await settle();
  expect(call.first.answers).toHaveLength(2);
});

test("the result of another tool that the first agent called is told to the agent that has taken over", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = await handing({}, () => promise);
  const result = Promise.withResolvers<void>();
  call.holds(result.promise);
  call.first.report({ type: "tool_call", callId: "c2", name: "look_up", arguments: {} });
  await settle();
  resolve();
  await settle();
  result.resolve();
  await settle();
  expect(call.second().answers).toEqual([]);
  expect(call.second().told.at(-1)).toContain("look_up");
});

test("the result of another tool is told to the agent that has taken over although the user speaks", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = await handing({}, () => promise);
  const result = Promise.withResolvers<void>();
  call.holds(result.promise);
  call.first.report({ type: "tool_call", callId: "c2", name: "look_up", arguments: {} });
  await settle();
  resolve();
  await settle();
  call.second().report({ type: "user_began" });
  result.resolve();
  await settle();
  expect(call.second().told.at(-1)).toMatch(/look_up.* It is paid\., later$/);
});

test("a model that hands over twice at once is told that it has", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const call = await handing({}, () => promise);
  call.first.report({ type: "tool_call", callId: "c2", name: TOOL, arguments: {} });
  await settle();
  expect(call.first.answers).toEqual([expect.stringContaining("already")]);
  resolve();
  await settle();
  expect([call.sts.all.length, call.conversations.tools.length]).toEqual([2, 1]);
});
