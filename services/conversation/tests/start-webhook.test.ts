import { afterAll, beforeEach, expect, test } from "bun:test";
import { Publishing, StartFailure, type StartWebhook } from "@parley/proto/parley/agent/v1/agent.ts";
import { type CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import {
  CallingType,
  type Conversation,
  ConversationStatus,
  ConversationType,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  GetCallSetupRequest,
  StartChatRequest,
  StartConversationRequest,
  TryStartWebhookRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isStartFailure, START_WEBHOOK_MS } from "@parley/shared/domain/start-webhook";
import { newUuid } from "@parley/shared/ids";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { Webhook } from "standardwebhooks";
import { allSent, eventsOf, payloadOf, want } from "./events-kit.ts";
import { createAgent, failure, inline, say, startTestChat, type TestAgent, transcript, turn } from "./kit.ts";
import { isTold, watch } from "./live-kit.ts";

const SECRET = newSigningSecret();
const { CONVERSATION_STATUS_DISCONNECTED: DISCONNECTED, CONVERSATION_STATUS_FAILED: FAILED } = ConversationStatus;

interface Question {
  headers: Headers;
  body: Record<string, unknown>;
  isSigned: boolean;
}

/** The service's clock stands still, so its timestamp is too old for `verify`. */
function isSigned(headers: Headers, text: string): boolean {
  const at = new Date(Number(headers.get("webhook-timestamp")) * 1_000);
  return headers.get("webhook-signature") === new Webhook(SECRET).sign(headers.get("webhook-id") ?? "", at, text);
}

let questions: Question[] = [];
let answer: () => Response | Promise<Response> = () => Response.json({});

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const text = await request.text();
    questions.push({ headers: request.headers, body: JSON.parse(text), isSigned: isSigned(request.headers, text) });
    return answer();
  },
});
const service = await startTestChat();
beforeEach(() => {
  questions = [];
  answer = () => Response.json({});
});
afterAll(async () => {
  await service.stop();
  await server.stop(true);
});

function webhook(given: Partial<StartWebhook> = {}): StartWebhook {
  const onFailure = StartFailure.START_FAILURE_CONTINUE;
  return {
    url: `http://127.0.0.1:${server.port}/start`,
    headers: [],
    secret: SECRET,
    // A busy machine answers in time.
    timeoutMs: START_WEBHOOK_MS.max,
    onFailure,
    channels: [],
    ...given,
  };
}

function askingAgent(given: Partial<CreateAgentRequest> = {}, ownerId?: string): Promise<TestAgent> {
  const texts = { prompt: inline("You serve {{name | nobody}}."), firstMessagePrompt: "Hello {{name}}!" };
  return createAgent(service, { ...texts, startWebhook: webhook(), ...given }, ownerId);
}

const open = (agent: TestAgent, metadata = {}) =>
  service.chat.startChat(StartChatRequest.fromPartial({ ...agent, metadata }));

async function shown({ ownerId }: TestAgent, conversationId: string): Promise<Conversation> {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId });
  if (!conversation) throw new Error("the response is empty");
  return conversation;
}

const askedPrompt = () => service.model.calls.at(-1)?.body.messages[0]?.content;

test("an agent's prompt and greeting have the system variables of the moment, whatever the client gives for them", async () => {
  const text = "{{system_channel}} {{system_time | never}} {{system_nothing | default}}|{{system_caller}}";
  const agent = await createAgent(service, {
    prompt: inline(text),
    firstMessagePrompt: "{{system_date}}",
    timezone: "America/New_York",
  });
  const given = { dynamic_variables: { system_time: "midnight", system_nothing: "something" } };
  const now = service.clock.now();
  const { sessionId, firstMessage } = await open(agent, given);
  const inNewYork = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "America/New_York",
  });
  expect(firstMessage).toEndWith(`, ${inNewYork.format(now)}`);
  for (const message of ["Hi", "Again"]) {
    service.clock.advance(60_000);
    await say(service, agent, message, sessionId);
    const time = Temporal.Instant.fromEpochMilliseconds(service.clock.now().getTime());
    const local = time
      .toZonedDateTimeISO("America/New_York")
      .toString({ smallestUnit: "second", timeZoneName: "never" });
    expect(askedPrompt()).toBe(`chat ${local} |`);
  }
  await service.chat.setOwnerSettings({
    ownerId: agent.ownerId,
    retentionDays: 90,
    timezone: "Asia/Tokyo",
    revision: 1,
  });
  const other = await createAgent(service, { firstMessagePrompt: "{{system_timezone}}" }, agent.ownerId);
  expect((await open(other)).firstMessage).toBe("Asia/Tokyo");
});

test("a start webhook is asked once at first-message, and what it answers counts more than what the client gave", async () => {
  const agent = await askingAgent();
  answer = () => Response.json({ dynamic_variables: { name: "Ada" }, metadata: { tier: "gold" }, language: "de" });
  const { sessionId, firstMessage } = await open(agent, { tier: "tin", dynamic_variables: { name: "Bob" } });
  expect(firstMessage).toBe("Hello Ada!");
  await say(service, agent, "Hi", sessionId);
  expect(questions.map((question) => question.isSigned)).toEqual([true]);
  expect(questions[0]?.body).toEqual({
    agent_id: agent.agentId,
    conversation_id: sessionId,
    channel: "chat",
    direction: "inbound",
    caller: null,
    called: null,
    metadata: { tier: "tin", dynamic_variables: { name: "Bob" } },
    dynamic_variables: { name: "Bob", tier: "tin" },
  });
  expect(askedPrompt()).toStartWith("You serve Ada.");
  const conversation = await shown(agent, sessionId);
  expect(conversation.metadata).toMatchObject({ tier: "gold" });
  expect(conversation.startWebhook).toEqual({ status: 200, durationMs: expect.any(Number), error: undefined });
});

test("a start webhook is asked at the first message of a chat without a greeting, and another agent that it names answers", async () => {
  const ownerId = newOwner();
  const other = await askingAgent({ prompt: inline("You are the other one.") }, ownerId);
  const agent = await askingAgent({}, ownerId);
  answer = () => Response.json({ agent_id: other.agentId });
  const { sessionId } = await say(service, agent, "Hi");
  expect(askedPrompt()).toBe("You are the other one.");
  await say(service, agent, "I still name the first one", sessionId);
  await say(service, other, "Or the other one", sessionId);
  expect(askedPrompt()).toBe("You are the other one.");
  expect(questions.map(({ body }) => body.agent_id)).toEqual([agent.agentId]);
  expect((await shown(agent, sessionId)).agentId).toBe(other.agentId);
});

test("a conversation asks the start webhook of the version with which it begins", async () => {
  const agent = await askingAgent();
  const publishing = Publishing.PUBLISHING_MANUAL;
  await service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...agent, publishing, clear: ["startWebhook"] }));
  const begin = (given: object) => service.chat.startChat(StartChatRequest.fromPartial({ ...agent, ...given }));
  for (const latestVersion of [false, true]) await begin({ latestVersion });
  await begin({ agentVersion: 1 });
  expect(questions).toHaveLength(2);
});

test("a start webhook rejects a chat with words that are its reply, and the session is disconnected", async () => {
  const agent = await askingAgent();
  answer = () => Response.json({ reject: { say: "We are closed." } });
  const asked = service.model.calls.length;
  const { sessionId, response } = await say(service, agent, "Hi");
  expect(response).toBe("We are closed.");
  expect(service.model.calls.length).toBe(asked);
  expect(await transcript(service, agent, sessionId)).toEqual(["user: Hi", "assistant: We are closed."]);
  expect((await shown(agent, sessionId)).status).toBe(DISCONNECTED);
  expect(await failure(say(service, agent, "Hello?", sessionId))).toMatchObject({ detail: "Session has ended" });
  const opened = await open(agent);
  expect(opened.firstMessage).toBe("We are closed.");
  expect((await shown(agent, opened.sessionId)).status).toBe(DISCONNECTED);
});

test.each([
  ["fails", () => new Response("", { status: 500 }), 500, "The server answered with HTTP status 500"],
  ["answers nonsense", () => new Response("<html>"), 200, "The answer must be a JSON object"],
  ["answers too much", () => Response.json({ x: "x".repeat(70_000) }), 200, "The answer is longer than 64 KiB"],
  [
    "has one wrong field",
    () => Response.json({ metadata: {}, language: 7 }),
    200,
    "language must be a BCP 47 tag, such as en-US",
  ],
  [
    "names a foreign agent",
    () => Response.json({ agent_id: "agt_01m7yyhwdzeb28n9gms8rr2qyg" }),
    200,
    "agent_id must be one of your agents",
  ],
  ["never answers", () => new Promise<Response>(() => {}), null, "The server did not answer within 0.5 s"],
])("a conversation begins without a start webhook that %s, and shows why", async (_what, given, status, error) => {
  // The test waits for the one that never answers as briefly as an agent may.
  const timeoutMs = status === null ? START_WEBHOOK_MS.min : START_WEBHOOK_MS.max;
  const agent = await askingAgent({ startWebhook: webhook({ timeoutMs }) });
  answer = given;
  const { sessionId, firstMessage } = await open(agent);
  expect(firstMessage).toBe("Hello nobody!");
  const { startWebhook } = await shown(agent, sessionId);
  expect(startWebhook).toEqual({ status: status ?? undefined, durationMs: expect.any(Number), error });
});

test("with on_failure reject, no conversation begins without its start webhook, and it has failed with a note", async () => {
  const agent = await askingAgent({ startWebhook: webhook({ onFailure: StartFailure.START_FAILURE_REJECT }) });
  answer = () => new Response("", { status: 503 });
  const detail = "The agent's start webhook failed: The server answered with HTTP status 503";
  for (const begin of [() => say(service, agent, "Hi"), () => open(agent)]) {
    const error = await serviceErrorOf(begin());
    expect(error).toMatchObject({ kind: "upstream_failed", detail });
    expect(isStartFailure(error)).toBe(true);
    expect(await shown(agent, error.metadata.session_id ?? "")).toMatchObject({ status: FAILED, notes: detail });
  }
});

test("a question whose process died is not asked again, and the conversation begins without an answer", async () => {
  const agent = await askingAgent();
  const { sessionId } = await say(service, await askingAgent({ startWebhook: undefined }, agent.ownerId), "Hi");
  const asked = { askedAt: service.clock.now().toISOString(), withinMs: 500 };
  await service.sql`
    update conversations set agent_id = ${agent.agentId}, start = ${service.sql.json(asked)}, is_starting = true, message_count = 0
    where conversation_id = ${sessionId}`;
  await service.sql`delete from messages where conversation_id = ${sessionId}`;
  service.clock.advance(5_000);
  await say(service, agent, "Hi", sessionId);
  expect(questions).toEqual([]);
  const { startWebhook } = await shown(agent, sessionId);
  expect(startWebhook?.error).toBe("The process that asked stopped before there was an answer");
});

test("a conversation is told of as started once the start webhook has answered, with the agent that it names, and never if it is rejected", async () => {
  const ownerId = newOwner();
  const watcher = watch(service.chat, { ownerId }, undefined);
  await eventually(() => expect(watcher.told.length).toBe(1));
  await want(service, ownerId, "conversation.started");
  const other = await createAgent(service, {}, ownerId);
  const agent = await askingAgent({ startWebhook: webhook({ onFailure: StartFailure.START_FAILURE_REJECT }) }, ownerId);
  const eventsBefore: unknown[] = [];
  answer = async () => {
    const id = String(questions.at(-1)?.body.conversation_id);
    eventsBefore.push(...(await service.sql`select event from owner_events where conversation_id = ${id}`));
    return Response.json({ agent_id: other.agentId });
  };
  const callId = newUuid();
  await service.chat.startConversation(callOf(agent, callId));
  const begun = [(await open(agent)).sessionId, (await say(service, agent, "Hi")).sessionId, callId];
  answer = () => Response.json({ reject: { say: "We are closed." } });
  const rejected = [(await open(agent)).sessionId, (await say(service, agent, "Hi")).sessionId];
  answer = () => new Response("", { status: 500 });
  const error = await serviceErrorOf(open(agent));
  await allSent(service.sql);
  expect(eventsBefore).toEqual([]);
  const told = (id: string) => eventsOf(service.dispatcher, id).map((each) => [each.event, payloadOf(each)]);
  for (const id of begun)
    expect(told(id)).toMatchObject([["conversation.started", { conversation: { agent_id: other.agentId } }]]);
  for (const id of rejected) expect(told(id)).toMatchObject([["conversation.disconnected", {}]]);
  expect(told(error.metadata.session_id ?? "")).toMatchObject([["conversation.failed", {}]]);

  await isTold(watcher, `ended ${error.metadata.session_id}`);
  await watcher.leave();
  const started = watcher.told.flatMap(({ event }) => (event?.$case === "started" ? event.value : []));
  expect(started.map(({ conversationId }) => conversationId).toSorted()).toEqual(begun.toSorted());
  expect(new Set(started.map(({ agentId }) => agentId))).toEqual(new Set([other.agentId]));
  expect(watcher.short()).toContain(`ended ${rejected[0]}`);
});

test("conversation.started is sent of a chat whose agent has lost its start webhook before it was asked", async () => {
  const agent = await askingAgent({ startWebhook: undefined });
  await want(service, agent.ownerId, "conversation.started");
  const { sessionId } = await open(agent);
  await allSent(service.sql);
  await service.sql`update conversations set is_starting = true where conversation_id = ${sessionId}`;
  const told = () => eventsOf(service.dispatcher, sessionId).map(({ event }) => event);
  const before = told().length;
  await say(service, agent, "Hi", sessionId);
  await allSent(service.sql);
  expect(told().slice(before)).toEqual(["conversation.started"]);
});

function callOf(agent: TestAgent, conversationId: string): StartConversationRequest {
  return StartConversationRequest.fromPartial({
    ...agent,
    conversationId,
    type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
    callingType: CallingType.CALLING_TYPE_INBOUND,
    toMobileNumber: "+14155550100",
    fromMobileNumber: "+14155550123",
    dynamicVariables: { name: "Bob" },
  });
}

function setupOf(agent: TestAgent, conversationId: string) {
  const { type, callingType, toMobileNumber, fromMobileNumber } = callOf(agent, conversationId);
  return service.chat.getCallSetup(
    GetCallSetupRequest.fromPartial({
      ...agent,
      ...{ conversationId, type, callingType, toMobileNumber, fromMobileNumber },
      dynamicVariables: { name: "Bob" },
    }),
  );
}

test("a call's start webhook is asked once, however often the call is started, and its setup has the answer", async () => {
  const tts = {
    providerName: "OPENAI",
    modelName: undefined,
    language: "en",
    voiceId: "alloy",
    speed: undefined,
    endpoint: undefined,
  };
  const agent = await askingAgent({ tts, prompt: inline("{{system_caller}} calls {{system_called}} about {{name}}") });
  const conversationId = newUuid();
  const before = await setupOf(agent, conversationId);
  expect(before).toMatchObject({
    startWebhookMs: START_WEBHOOK_MS.max,
    prompt: "+14155550123 calls +14155550100 about Bob",
  });
  answer = () =>
    Response.json({
      first_message: "Guten Tag {{name}}!",
      language: "de",
      voice_id: "nova",
      dynamic_variables: { name: "Ada" },
    });
  const starts = await Promise.all([1, 2].map(() => service.chat.startConversation(callOf(agent, conversationId))));
  expect(starts.map(({ conversation }) => conversation?.startWebhook?.status)).toEqual([200, 200]);
  expect(questions.map(({ body }) => body)).toMatchObject([{ channel: "telephony", caller: "+14155550123" }]);
  expect(await setupOf(agent, conversationId)).toMatchObject({
    greeting: "Guten Tag Ada!",
    language: "de",
    tts: { language: "de", voiceId: "nova" },
    prompt: "+14155550123 calls +14155550100 about Ada",
    startWebhookMs: 0,
    isRejected: false,
  });
});

test("a call that its start webhook rejects has the words in its setup, and one that may not begin is refused each time", async () => {
  const agent = await askingAgent({ startWebhook: webhook({ onFailure: StartFailure.START_FAILURE_REJECT }) });
  answer = () => Response.json({ reject: { say: "We are closed." } });
  const rejected = newUuid();
  expect(await service.chat.startConversation(callOf(agent, rejected))).toMatchObject({ isRejected: true });
  expect(await setupOf(agent, rejected)).toMatchObject({ greeting: "We are closed.", isRejected: true });
  answer = () => new Response("", { status: 500 });
  const failed = newUuid();
  for (const _ of [1, 2]) {
    const error = await serviceErrorOf(service.chat.startConversation(callOf(agent, failed)));
    expect(error).toMatchObject({ kind: "upstream_failed" });
  }
  expect(questions).toHaveLength(2);
  expect(await shown(agent, failed)).toMatchObject({ status: FAILED });
});

test("a WhatsApp conversation asks its start webhook with its first message, and not when it is started", async () => {
  const agent = await askingAgent();
  const conversationId = newUuid();
  const type = ConversationType.CONVERSATION_TYPE_WHATSAPP;
  const started = { ...callOf(agent, conversationId), type, callingType: CallingType.CALLING_TYPE_UNSPECIFIED };
  await service.chat.startConversation(started);
  expect(questions).toEqual([]);
  answer = () => Response.json({ dynamic_variables: { name: "Ada" } });
  for (const message of ["Hi", "Again"]) {
    await service.chat.completeTurn({ turn: turn(agent, message, { sessionId: conversationId, type }) });
    await service.chat.startConversation(started);
  }
  expect(questions.map(({ body }) => body)).toMatchObject([{ channel: "whatsapp", caller: "+14155550123" }]);
  expect(askedPrompt()).toStartWith("You serve Ada.");
});

test("a draft asks no start webhook unless it is wanted, nor does a channel that is not named", async () => {
  const agent = await askingAgent({ startWebhook: webhook({ channels: ["telephony"] }) });
  await open(agent);
  const change = UpdateAgentRequest.fromPartial({ ...agent, startWebhook: webhook() as never });
  for (const asksStartWebhook of [false, true]) {
    const { draftId } = await service.agents.createDraft({ change, asksStartWebhook });
    await service.chat.startChat(StartChatRequest.fromPartial({ ...agent, draftId }));
    expect(questions).toHaveLength(asksStartWebhook ? 1 : 0);
  }
});

test("a try asks the start webhook about a sample, and tells the request and what is wrong with the answer", async () => {
  const headers = [{ name: "X-Plan", value: { $case: "text" as const, value: "{{plan}}-{{system_channel}}-plan" } }];
  const agent = await askingAgent({ startWebhook: webhook({ headers }) });
  answer = () => Response.json({ reject: {} });
  const tried = await service.chat.tryStartWebhook(
    TryStartWebhookRequest.fromPartial({ ...agent, channel: "widget", dynamicVariables: { plan: "gold" } }),
  );
  expect(tried).toMatchObject({ status: 200, error: "reject.say must be a text of 1 to 1000 characters" });
  expect(tried.request?.headers["x-plan"]).toBe("[secret]");
  expect(questions[0]?.headers.get("x-plan")).toBe("gold-widget-plan");
});
