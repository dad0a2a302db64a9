import { afterAll, expect, test } from "bun:test";
import {
  ConversationStatus,
  ConversationType,
  Delivery_Status,
  Message,
  Role,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { AppendTranscriptRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { makeDue } from "@parley/testkit/jobs";
import { append, type CallKey, callOf, lines, read, refusal, said } from "./calls-kit.ts";
import { allSent, eventOf, eventsOf, payloadOf, want } from "./events-kit.ts";
import { createAgent, startTestChat, transcript, turn } from "./kit.ts";

const WHATSAPP = ConversationType.CONVERSATION_TYPE_WHATSAPP;

const service = await startTestChat({ PARLEY_WHATSAPP_IDLE_HOURS: "1", PARLEY_CALL_IDLE_MINUTES: "1" });
const agent = await createAgent(service);
service.model.script = (call) => call.finish("Hello there.");

afterAll(() => service.stop());

async function startThread(): Promise<CallKey> {
  const request = callOf(agent, { type: WHATSAPP, callingType: 0, telephonyProvider: undefined });
  await service.chat.startConversation(request);
  return { ownerId: agent.ownerId, conversationId: request.conversationId };
}

/** A first message from the agent's side. */
function announcement(key: CallKey): AppendTranscriptRequest {
  const { message, ...first } = said(key, 1, "Your order has left.");
  return { ...first, message: Message.fromPartial({ ...message, role: Role.ROLE_ASSISTANT }) };
}

function write({ conversationId }: CallKey, message: string, type: ConversationType = WHATSAPP) {
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  return service.chat.completeTurn({ turn: turn(agent, message, { sessionId: conversationId, type, idempotency }) });
}

function deliver(key: CallKey, sequence: number, status: Delivery_Status, errorCode?: string) {
  return service.chat.setDelivery({ ...key, sequence, delivery: { status, errorCode } });
}

test("a WhatsApp conversation has turns like a chat's, each with the sequence of its reply", async () => {
  const key = await startThread();
  expect(await write(key, "Hi")).toMatchObject({ response: "Hello there.", replySequence: 2 });
  expect(await write(key, "Are you there?")).toMatchObject({ replySequence: 4 });
  expect(await lines(service.chat, key)).toEqual([
    "user: Hi",
    "assistant: Hello there.",
    "user: Are you there?",
    "assistant: Hello there.",
  ]);
});

test("a chat's turn writes to no WhatsApp conversation, and a WhatsApp turn to no chat", async () => {
  const thread = await startThread();
  const chat = newUuid();
  const opened = await service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId: chat, mayBegin: true }) });
  expect(opened.sessionId).toBe(chat);
  expect(await refusal(write(thread, "Hi", ConversationType.CONVERSATION_TYPE_CHAT))).toMatchObject({
    kind: "condition",
    detail: "Session is not a chat session",
  });
  expect(await refusal(write({ ...thread, conversationId: chat }, "Hi"))).toMatchObject({
    kind: "condition",
    detail: "Session is not a WhatsApp conversation",
  });
  expect(await refusal(write(thread, "Hi", ConversationType.CONVERSATION_TYPE_WEB))).toMatchObject({ kind: "invalid" });
});

test("a turn that may begin its session begins it once, with the given id", async () => {
  const sessionId = newUuid();
  const say = (message: string, mayBegin: boolean) =>
    service.chat.completeTurn({ turn: turn(agent, message, { sessionId, mayBegin }) });
  expect(await refusal(say("Hi", false))).toMatchObject({ kind: "not_found" });
  expect(await say("Hi", true)).toMatchObject({ sessionId, replySequence: 2 });
  expect(await say("Again", true)).toMatchObject({ sessionId, replySequence: 4 });
  expect(await transcript(service, agent, sessionId)).toHaveLength(4);
  const nameless = service.chat.completeTurn({ turn: turn(agent, "Hi", { mayBegin: true }) });
  expect(await refusal(nameless)).toMatchObject({ kind: "invalid", detail: "may_begin needs a session_id" });
});

test("two first turns of one session are not two sessions", async () => {
  const sessionId = newUuid();
  const begin = () => service.chat.completeTurn({ turn: turn(agent, "Hi", { sessionId, mayBegin: true }) });
  const ends = await Promise.allSettled([begin(), begin()]);
  const failed = ends.filter((end) => end.status === "rejected");
  expect(failed.length).toBeLessThan(2);
  for (const { reason } of failed) expect(reason).toMatchObject({ kind: "conflict" });
  expect((await transcript(service, agent, sessionId)).length).toBe(2 * (2 - failed.length));
});

test("a silent WhatsApp conversation ends after its own time: COMPLETED when the user wrote, else DISCONNECTED", async () => {
  const [written, reported, unanswered] = [await startThread(), await startThread(), await startThread()];
  await write(written, "Hi");
  await append(service.chat, [said(reported, 1)]);
  await append(service.chat, [announcement(unanswered)]);
  service.clock.advance(60 * 60_000);
  const active = await startThread();
  service.clock.advance(1);
  await makeDue(service.sql, "close-silent-calls", "close-silent-threads");
  const statusOf = async (key: CallKey) => (await read(service.chat, key)).status;
  for (const key of [written, reported])
    await eventually(async () => expect(await statusOf(key)).toBe(ConversationStatus.CONVERSATION_STATUS_COMPLETED));
  await eventually(async () =>
    expect(await statusOf(unanswered)).toBe(ConversationStatus.CONVERSATION_STATUS_DISCONNECTED),
  );
  expect(await statusOf(active)).toBe(ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS);
  expect(await refusal(write(written, "Hi"))).toMatchObject({ kind: "condition", detail: "Session has ended" });
});

test("a message's delivery is kept on it and never goes back", async () => {
  const key = await startThread();
  await write(key, "Hi");
  const deliveries = async () =>
    (await read(service.chat, key)).transcript?.messages.map(({ delivery }) => delivery ?? null);
  expect(await deliveries()).toEqual([null, null]);
  await deliver(key, 2, Delivery_Status.STATUS_DELIVERED);
  await deliver(key, 2, Delivery_Status.STATUS_SENT);
  await deliver(key, 2, Delivery_Status.STATUS_FAILED, "131047");
  expect(await deliveries()).toEqual([null, { status: Delivery_Status.STATUS_DELIVERED, errorCode: undefined }]);
  await deliver(key, 2, Delivery_Status.STATUS_READ);
  expect(await deliveries()).toEqual([null, { status: Delivery_Status.STATUS_READ, errorCode: undefined }]);

  await want(service, key.ownerId, "message.failed");
  await write(key, "And now?");
  await deliver(key, 4, Delivery_Status.STATUS_SENT);
  for (const _ of [1, 2]) await deliver(key, 4, Delivery_Status.STATUS_FAILED, "131047");
  expect((await deliveries())?.at(-1)).toEqual({ status: Delivery_Status.STATUS_FAILED, errorCode: "131047" });
  // Its owner is told once.
  expect(payloadOf(await eventOf(service, key.conversationId))).toMatchObject({
    event: "message.failed",
    conversation_id: key.conversationId,
    message: { role: "assistant", delivery_status: "failed", delivery_error: "131047" },
  });
  await allSent(service.sql);
  expect(eventsOf(service.dispatcher, key.conversationId)).toHaveLength(1);
});

test("another owner's delivery report, one for a user's message and one for no message change nothing", async () => {
  const key = await startThread();
  await write(key, "Hi");
  await deliver({ ...key, ownerId: "own_other" }, 2, Delivery_Status.STATUS_READ);
  await deliver(key, 1, Delivery_Status.STATUS_READ);
  await deliver(key, 9, Delivery_Status.STATUS_READ);
  const { transcript: stored } = await read(service.chat, key);
  expect(stored?.messages.map(({ delivery }) => delivery)).toEqual([undefined, undefined]);
  const bad = deliver(key, 2, Delivery_Status.STATUS_UNSPECIFIED);
  expect(await refusal(bad)).toMatchObject({ kind: "invalid" });
});
