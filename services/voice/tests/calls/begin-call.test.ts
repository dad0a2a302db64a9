import { expect, test } from "bun:test";
import { Conversation, ConversationStatus, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { GetCallSetupResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { serviceErrorOf } from "@parley/testkit/failures";
import { NotConnected } from "../../src/call/port.ts";
import { type FakeConversations, fakeConversations } from "../kit/fake-conversations.ts";
import { fakeTime, settle } from "../kit/fake-time.ts";
import { newCall, newLive } from "../kit/scripted-call.ts";
import { scriptedSts } from "../kit/scripted-sts.ts";
import { FAR_END } from "../media-stream/carrier.ts";

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

test("how another process hangs up is stored with the call's place, again while it rings, and when it is answered", async () => {
  const placed = { ...FAR_END, carrierCallId: "CA0" };
  const call = await newCall({
    request: { farEnd: placed },
    connect: async (_signal, reachedBy) => {
      await reachedBy({ ...placed, carrierCallId: "rings" });
      // Still being stored when the call is answered.
      void reachedBy({ ...placed, carrierCallId: "early" });
    },
  });
  const ids = call.farEnds.map((farEnd) => farEnd?.type === "carrier" && farEnd.carrierCallId);
  expect(ids).toEqual(["CA0", "rings", "early", FAR_END.carrierCallId]);
});

test("a call that cannot be held frees its place and leaves no conversation", async () => {
  const conversations = fakeConversations({ llm: undefined });
  const failing = newCall({ conversations });
  expect(await serviceErrorOf(failing)).toMatchObject({
    kind: "condition",
    detail: "Agent has no LLM configuration: set llm",
  });
});

test("a call of an agent whose model has no key is refused before anyone is greeted, with the variable to set", async () => {
  const llmFault = "LLM provider OPENAI is not configured: the operator has to set OPENAI_API_KEY";
  const refused = serviceErrorOf(newCall({ conversations: fakeConversations({ llmFault }) }));
  expect(await refused).toMatchObject({ kind: "condition", detail: llmFault });
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
    if (++asked < 3) throw new ServiceError("unavailable", "The agent service is unreachable. Try again.");
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

/** A conversation whose agent's start webhook takes so long to answer, and what its setup is from then on. */
function startedBy(time: ReturnType<typeof fakeTime>, ms: number, answered: Partial<GetCallSetupResponse>) {
  let isAnswered = false;
  const before = fakeConversations({ greeting: "Hello.", startWebhookMs: ms });
  const after = fakeConversations({ greeting: "Hello.", ...answered });
  const agents: string[] = [];
  const conversations: FakeConversations = {
    ...before,
    getCallSetup: async (request) => {
      agents.push(request.agentId);
      return (isAnswered ? after : before).getCallSetup(request);
    },
    startConversation: async () => {
      await new Promise<void>((resolve) => time.after(ms, resolve));
      isAnswered = true;
      const conversation = Conversation.fromPartial({
        status: ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS,
        agentId: "agt_3",
        startWebhook: { durationMs: ms },
      });
      return { conversation, lastSequence: 0, isRejected: answered.isRejected };
    },
  };
  return { conversations, agents };
}

test("a call rings until its start webhook has answered, and then begins with the agent and the greeting that it says", async () => {
  const time = fakeTime();
  const { conversations, agents } = startedBy(time, 7_000, { greeting: "Guten Tag." });
  let isConnected = false;
  const connect = async () => {
    isConnected = true;
  };
  const calling = newCall({ conversations, time, connect });
  await time.pass(6_999);
  expect(isConnected).toBe(false);
  await time.pass(1);
  const call = await calling;
  await time.pass(1);
  expect(call.voice.said).toEqual(["Guten Tag."]);
  expect(agents).toEqual(["agt_1", "agt_3"]);
});

test("a caller who is rejected hears why, is not listened to, and the call is hung up as cancelled", async () => {
  const time = fakeTime();
  const { conversations } = startedBy(time, 100, { greeting: "We are closed.", isRejected: true });
  const calling = newCall({ conversations, time });
  await time.pass(100);
  const call = await calling;
  call.speaks("But I");
  await time.pass(5_000);
  expect(call.voice.said).toEqual(["We are closed."]);
  expect(conversations.asked).toEqual([]);
  const notes = "The agent's start webhook rejected the call";
  expect(await call.ended).toMatchObject({ outcome: "CANCELLED", notes });
  expect(conversations.lines).toEqual(["assistant: We are closed."]);
});

test("nobody is called to be rejected", async () => {
  const time = fakeTime();
  const { conversations } = startedBy(time, 100, { greeting: "We are closed.", isRejected: true });
  const channel = { type: "TELEPHONY", callingType: "OUTBOUND", toMobileNumber: "+14155550123" } as const;
  let isCalled = false;
  const connect = async () => {
    isCalled = true;
  };
  const calling = newCall({ conversations, time, connect, request: { channel } });
  await time.pass(100);
  expect(await (await calling).ended).toMatchObject({ outcome: "CANCELLED" });
  expect(isCalled).toBe(false);
});
