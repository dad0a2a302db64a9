import { afterAll, describe, expect, test } from "bun:test";
import {
  CallingType,
  ConversationStatus,
  ConversationType,
  Outcome,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { StartConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { append, callOf, complete, lines, read, refusal, said, startCall } from "./calls-kit.ts";
import { createAgent, failure, startTestChat, turn } from "./kit.ts";
import { request as listed } from "./lists-kit.ts";

const {
  CONVERSATION_STATUS_IN_PROGRESS: IN_PROGRESS,
  CONVERSATION_STATUS_COMPLETED: COMPLETED,
  CONVERSATION_STATUS_DISCONNECTED: DISCONNECTED,
  CONVERSATION_STATUS_FAILED: FAILED,
} = ConversationStatus;
const {
  CONVERSATION_TYPE_CHAT: CHAT,
  CONVERSATION_TYPE_TELEPHONY: TELEPHONY,
  CONVERSATION_TYPE_WHATSAPP: WHATSAPP,
  CONVERSATION_TYPE_DAILY: DAILY,
} = ConversationType;

const service = await startTestChat();
const agent = await createAgent(service);
afterAll(() => service.stop());

describe("a conversation that a runtime starts", () => {
  test("is returned with everything it sent, and its variables under their canonical names", async () => {
    const request = callOf(agent, {
      dynamicVariables: { "Customer Name": "Zoë", plan: "gold" },
      metadata: { ticket: "T-7", plan: "silver", nested: { deep: [1] } },
      isTestCall: true,
    });
    const started = await service.chat.startConversation(request);
    expect(started.lastSequence).toBe(0);
    const conversation = await read(service.chat, request);
    expect(started.conversation).toEqual(conversation);
    expect(conversation).toMatchObject({
      conversationId: request.conversationId,
      agentId: agent.agentId,
      type: TELEPHONY,
      status: IN_PROGRESS,
      callingType: CallingType.CALLING_TYPE_INBOUND,
      toMobileNumber: "+14155550123",
      fromMobileNumber: "+919876543210",
      telephonyProvider: "TWILIO",
      metadata: request.metadata,
      dynamicVariables: { customer_name: "Zoë", plan: "gold", ticket: "T-7" },
      isTestCall: true,
      transcript: undefined,
      createdBy: undefined,
    });
    expect(conversation.id).toMatch(/^cnv_[0-9a-z]{26}$/);
  });

  test("has the fields of its type", async () => {
    const plain = { conversationId: newUuid(), ...agent };
    const numbers = { fromMobileNumber: "+919876543210", toMobileNumber: "+14155550123" };
    const room = { roomUrl: "https://x.daily.co/r1", roomName: "r1" };
    for (const given of [
      { type: WHATSAPP, ...numbers },
      { type: DAILY, ...room },
      { type: DAILY, roomUrl: room.roomUrl },
      { type: TELEPHONY, callingType: CallingType.CALLING_TYPE_INBOUND, toMobileNumber: "+14155550123" },
    ]) {
      const request = StartConversationRequest.fromPartial({ ...plain, conversationId: newUuid(), ...given });
      const { conversation } = await service.chat.startConversation(request);
      expect(conversation).toMatchObject(given);
    }
    const types = async (type: (typeof plain & { type: "WHATSAPP" | "DAILY" })["type"]) =>
      (await service.chat.listConversations(listed(agent.ownerId, { type }))).total;
    expect([await types("WHATSAPP"), await types("DAILY")]).toEqual([1, 2]);
  });

  test.each<[string, Partial<StartConversationRequest>, string]>([
    ["an id that is no UUID", { conversationId: "call-1" }, "conversation_id must be a UUID that the runtime chose"],
    ["no type", { type: 0 }, "type must be TELEPHONY, WHATSAPP, DAILY or WEB"],
    ["a chat", { type: CHAT }, "type must not be CHAT: a chat begins with StartChat or its first turn"],
    ["a call without a direction", { callingType: 0 }, "calling_type is required for TELEPHONY"],
    ["a call to nobody", { toMobileNumber: "" }, "to_mobile_number is required for TELEPHONY"],
    [
      "a number in another form",
      { fromMobileNumber: "0987 654" },
      "from_mobile_number must be a phone number in E.164 form, such as +14155550123",
    ],
    ["an unknown carrier", { telephonyProvider: "ACME" }, "telephony_provider must be TWILIO or PLIVO"],
    ["a room of a call", { roomUrl: "https://x.daily.co/r" }, "room_url must be left out for TELEPHONY"],
    ["a room without its address", { ...rooms(), roomUrl: undefined }, "room_url is required for DAILY"],
    [
      "a room at no https address",
      { ...rooms(), roomUrl: "ftp://x" },
      "room_url must be an https:// address of at most 2048 characters",
    ],
    [
      "a caller of a room",
      { ...rooms(), toMobileNumber: "+14155550123" },
      "to_mobile_number must be left out for DAILY",
    ],
    ["a NUL in its metadata", { metadata: { a: ["\0"] } }, "metadata.a.0 must not contain a NUL character"],
    ["too many values", { metadata: { a: Array(10_000).fill([]) } }, "metadata must not have more than 10000 values"],
    ["metadata without end", { metadata: { a: "x".repeat(1024 * 1024) } }, "metadata must be at most 1 MiB"],
  ])("with %s is refused, naming the field", async (_, given, detail) => {
    expect(await refusal(service.chat.startConversation(callOf(agent, given)))).toMatchObject({
      kind: "invalid",
      detail,
    });
  });

  test("is refused for a missing agent or another owner's", async () => {
    const stranger = await createAgent(service);
    const start = (given: object) => refusal(service.chat.startConversation(callOf(agent, given)));
    expect(await start({ agentId: stranger.agentId })).toMatchObject({ kind: "forbidden" });
    expect(await start({ agentId: "agt_none" })).toMatchObject({ kind: "not_found", detail: "Agent not found" });
  });

  test("of an agent that may be gone begins without it, but not for another owner's", async () => {
    const gone = callOf(agent, { agentId: "agt_01m0deletedagent0000000000", agentMayBeGone: true });
    const { conversation } = await service.chat.startConversation(gone);
    expect(conversation).toMatchObject({ conversationId: gone.conversationId, agentId: gone.agentId });
    const stranger = await createAgent(service);
    const foreign = callOf(agent, { agentId: stranger.agentId, agentMayBeGone: true });
    expect(await refusal(service.chat.startConversation(foreign))).toMatchObject({ kind: "forbidden" });
  });
});

function rooms(): Partial<StartConversationRequest> {
  return {
    type: DAILY,
    callingType: 0,
    toMobileNumber: undefined,
    fromMobileNumber: undefined,
    telephonyProvider: undefined,
    roomUrl: "https://x.daily.co/r",
  };
}

describe("repeating the same start", () => {
  test("returns the stored conversation and transcript position, even if the agent is deleted or the call is over", async () => {
    const leaving = await createAgent(service, {}, agent.ownerId);
    const request = callOf(leaving, { metadata: { b: 1, a: { z: [null, 0.5], y: "x" } } });
    const { conversation } = await service.chat.startConversation(request);
    await append(service.chat, [said(request, 1), said(request, 2)]);
    await service.agents.deleteAgent({ ...leaving, idempotency: undefined });
    service.clock.advance(1_000);
    const again = { ...request, conversationId: request.conversationId.toUpperCase() };
    expect(await service.chat.startConversation(again)).toMatchObject({
      conversation: { id: conversation?.id ?? "", createdAt: conversation?.createdAt as Date },
      lastSequence: 2,
    });
    await complete(service.chat, request);
    const late = await service.chat.startConversation(request);
    expect([late.conversation?.status, late.lastSequence]).toEqual([COMPLETED, 2]);
    expect((await service.chat.listConversations(listed(agent.ownerId, { agentId: leaving.agentId }))).total).toBe(1);
  });

  test("many times concurrently starts one conversation", async () => {
    const request = callOf(agent);
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.chat.startConversation(request)));
    expect(new Set(answers.map(({ conversation }) => conversation?.id)).size).toBe(1);
  });

  test("with other content is a conflict", async () => {
    const request = callOf(agent, { metadata: { ticket: 1 } });
    await service.chat.startConversation(request);
    const others = [{ metadata: { ticket: 2 } }, { toMobileNumber: "+14155550199" }, { isTestCall: true }];
    for (const other of others) {
      expect(await refusal(service.chat.startConversation({ ...request, ...other }))).toMatchObject({
        kind: "conflict",
        detail: "conversation_id belongs to a conversation with other content: choose a new one",
      });
    }
  });
});

describe("completing", () => {
  test.each([
    [Outcome.OUTCOME_SUCCESS, COMPLETED],
    [Outcome.OUTCOME_NO_ANSWER, DISCONNECTED],
    [Outcome.OUTCOME_BUSY, DISCONNECTED],
    [Outcome.OUTCOME_CANCELLED, DISCONNECTED],
    [Outcome.OUTCOME_HUNG_UP_EARLY, DISCONNECTED],
    [Outcome.OUTCOME_ERROR, FAILED],
  ] as const)("with outcome %d ends in status %d, and keeps the outcome", async (outcome, status) => {
    const key = await startCall(service.chat, agent);
    expect(await complete(service.chat, key, { outcome })).toEqual({ status });
    expect(await read(service.chat, key)).toMatchObject({ status, outcome });
  });

  test("keeps duration, the time of the answer, recording and notes; a late or repeated one changes nothing and returns what is stored", async () => {
    const key = await startCall(service.chat, agent);
    const end = {
      durationSeconds: 12.5,
      answeredAt: new Date("2026-01-01T12:00:05Z"),
      recordingUrl: "https://r.example/1.mp3",
      notes: `Caller\0 was ${"😀".repeat(9_000)}`,
    };
    service.clock.advance(60_000);
    await complete(service.chat, key, end);
    const stands = await read(service.chat, key);
    expect(stands).toMatchObject({ ...end, notes: end.notes.replace("\0", ""), updatedAt: service.clock.now() });
    service.clock.advance(60_000);
    for (const given of [end, { outcome: Outcome.OUTCOME_ERROR, notes: "late" }]) {
      expect(await complete(service.chat, key, given)).toEqual({ status: COMPLETED });
    }
    expect(await read(service.chat, key)).toEqual(stands);
  });

  test("by many at once ends it once, and all get the same end", async () => {
    const key = await startCall(service.chat, agent);
    const outcomes = [Outcome.OUTCOME_SUCCESS, Outcome.OUTCOME_BUSY, Outcome.OUTCOME_ERROR, Outcome.OUTCOME_SUCCESS];
    const answers = await Promise.all(outcomes.map((outcome) => complete(service.chat, key, { outcome })));
    expect(new Set(answers.map(({ status }) => status)).size).toBe(1);
    expect((await read(service.chat, key)).status).toBe(answers[0]?.status ?? 0);
  });

  test.each([
    [{ outcome: 0 as Outcome }, "outcome must be SUCCESS, NO_ANSWER, BUSY, CANCELLED, HUNG_UP_EARLY or ERROR"],
    [{ durationSeconds: -1 }, "duration_seconds must be a number of at least 0"],
    [{ recordingUrl: "file:///etc" }, "recording_url must be an https:// address of at most 2048 characters"],
    [{ notes: "x".repeat(10_001) }, "notes must be at most 10000 characters"],
  ])("with %p is refused and leaves it open", async (given, detail) => {
    const key = await startCall(service.chat, agent);
    expect(await refusal(complete(service.chat, key, given))).toMatchObject({ kind: "invalid", detail });
    expect((await read(service.chat, key)).status).toBe(IN_PROGRESS);
  });

  test("is refused for another owner's conversation, a missing one and a chat", async () => {
    const key = await startCall(service.chat, agent);
    const stranger = await createAgent(service);
    const end = (other: object) => refusal(complete(service.chat, { ...key, ...other }));
    expect(await end({ ownerId: stranger.ownerId })).toMatchObject({ kind: "forbidden" });
    for (const conversationId of [newUuid(), "x", "\0"]) {
      expect(await end({ conversationId })).toMatchObject({ kind: "not_found", detail: "Conversation not found" });
    }
    const { sessionId } = await service.chat.completeTurn({ turn: turn(agent) });
    expect(await end({ conversationId: sessionId })).toMatchObject({
      kind: "condition",
      detail: "Conversation is a chat session, which its turns write",
    });
  });
});

test("a call accepts no chat turn, and a chat accepts no call transcript", async () => {
  const key = await startCall(service.chat, agent);
  expect(
    await failure(service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId: key.conversationId }) })),
  ).toMatchObject({ kind: "condition", detail: "Session is not a chat session" });
  const { sessionId } = await service.chat.completeTurn({ turn: turn(agent) });
  const chatKey = { ...key, conversationId: sessionId };
  expect(await refusal(append(service.chat, [said(chatKey, 3)]))).toMatchObject({ kind: "condition" });
  expect(await lines(service.chat, chatKey)).toHaveLength(2);
});
