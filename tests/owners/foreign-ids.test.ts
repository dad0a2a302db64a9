import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ServiceName } from "@parley/dev/stack/plan.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Message } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ConversationServiceService, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { eventually } from "@parley/shared/testing/eventually";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

/** A text in every field of the victim's objects. */
const CANARY = "canary-of-the-victim";

const SERVICES: Readonly<Record<ServiceName, Definition>> = {
  account: AccountServiceService,
  agent: AgentServiceService,
  conversation: ConversationServiceService,
  messaging: MessagingServiceService,
  prompt: PromptServiceService,
  voice: VoiceServiceService,
  "webhook-dispatcher": WebhookDispatcherServiceService,
};
/** The hostile owner is deleted when no other test needs it. */
const LAST = ["forgetOwner", "deleteOwner"];
const RPCS = Object.entries(SERVICES)
  .flatMap(([service, definition]) =>
    Object.keys(definition).map((name) => ({ service: service as ServiceName, name })),
  )
  .toSorted((a, b) => LAST.indexOf(a.name) - LAST.indexOf(b.name));

/** Methods that name no owner, and why they reach nobody's objects. */
const WITHOUT_OWNER: Readonly<Record<string, string>> = {
  createOwner: "creates an owner",
  listOwners: "is for the operator",
  authenticateKey: "is given a secret",
  connectWebCall: "is given a secret",
  endWebCall: "is given a secret",
  getWidget: "returns an agent's owner and its public widget, only to the messaging service",
  createWidgetToken: "returns only what the widget shows to everybody",
  openWidgetToken: "is given a secret",
  handleCarrierCallback: "is given a signature",
  handleDailyWebhook: "is given a signature by a secret",
  verifyWhatsAppWebhook: "is given a secret",
  handleWhatsAppCallback: "is given a signature by a secret",
  findCarrier: "returns a carrier's owner, only to the services that its callbacks reach",
  findTrunk: "returns a number's owner, only to the voice service",
  listTrunks: "returns only ids, and only to the voice service",
  findCallee: "returns a number's owner, only to the voice service",
  authenticateSession: "is given a secret",
  signIn: "is given a password",
  watchKeys: "tells of ids alone",
  watchAgents: "tells of ids alone",
  watchPrompts: "tells of names alone, to other services",
};

/** The answers that a service may give when the object is another owner's. */
const REFUSALS = ["not_found", "forbidden", "invalid", "condition", "conflict", "unauthenticated"];

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const [victim, hostile] = stack.owners;
/** The values of requests' fields: the hostile owner, and the victim's objects. */
const given: Record<string, unknown> = { ownerId: hostile.ownerId };
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

beforeAll(async () => {
  const api = stack.api(victim.apiKey);
  const manage = stack.manage(await createSession(stack, victim.ownerId));
  const made = async (path: string, body: object = {}) => {
    const answer = await manage.post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  given.agentId = await createAgent(api, model, {
    agent_name: CANARY,
    prompt_content: CANARY,
    first_message_prompt: CANARY,
    tools: { end_call: true },
  });
  given.promptName = CANARY;
  await api.post("/prompts", { prompt_name: CANARY, prompt_content: CANARY });
  given.keyId = (await made("/keys", { name: CANARY })).key_id;
  const hook = { name: CANARY, url: `http://127.0.0.1:1/${CANARY}`, request_type: "POST" };
  given.destinationId = (await made("/destinations", hook)).destination_id;
  model.next((exchange) => {
    exchange.toolCall("end_call", { message: CANARY });
    exchange.finish();
  });
  const chat = { agent_id: given.agentId, message: CANARY, streaming: false, metadata: { note: CANARY } };
  const { session_id: endedId } = (await api.post("/chat", chat)).body;
  given.sessionId = (await api.post("/chat", chat)).body.session_id;
  const delivery = await eventually(async () => {
    const { body } = await manage.get(`/deliveries?conversation_id=${endedId}`);
    expect(body.deliveries).toMatchObject([{ status: "failed" }]);
    return body.deliveries[0];
  });
  Object.assign(given, {
    deliveryId: delivery.delivery_id,
    eventId: delivery.event_id,
    conversationId: endedId,
    conversationIds: [endedId, given.sessionId],
    promptNames: [CANARY],
    mobileNumber: "+15105550001",
    providerName: "OPENAI",
    voiceId: newUuid(),
  });
  await made("/mobile-numbers", { mobile_number: given.mobileNumber, telephony_provider: "TWILIO" });
  const voice = { provider: "OPENAI", voice_id: given.voiceId, name: CANARY, gender: "NEUTRAL", language: "en" };
  await made("/cloned-voices", voice);
  const { carrier } = await stack.accounts.connectCarrier({
    ownerId: victim.ownerId,
    provider: "SIP",
    // Parley does not register with a trunk that has addresses, so nothing of the victim's changes by itself.
    settings: { host: "trunk.example", username: CANARY, password: CANARY, allowedAddresses: ["192.0.2.1"] },
  });
  given.carrierId = carrier?.carrierId;
});

/** Requests whose ids are nested, or that need more to mean anything. */
function more(name: string): object {
  const { ownerId, agentId, sessionId, conversationId, eventId, promptName } = given;
  const reference = { promptName, promptVersion: undefined };
  const turn = Turn.fromPartial({ ownerId, agentId, sessionId, message: "Hi" } as object);
  const requests: Record<string, object> = {
    completeTurn: { turn },
    streamTurn: { turn },
    runTurns: { starts: [{ number: 1, turn, streamed: true, credit: 1, timeoutMs: 5_000, requestId: "theirs" }] },
    batchGetAgents: { keys: [{ ownerId, agentId }] },
    batchGetAgentRuntimes: { keys: [{ ownerId, agentId }], withAnalysisPrompt: true },
    getPrompt: { reference },
    batchGetPrompts: { items: [{ ownerId, reference }] },
    acquirePrompts: { uses: [{ promptType: 1, reference }] },
    setPromptReferences: { agentName: "Theirs", agentGone: true },
    sendWhatsAppTemplate: {
      toMobileNumber: "+15105550009",
      template: { name: "theirs", language: "en", components: [] },
    },
    setRetention: { retentionDays: 1, revision: "1" },
    updateSettings: { retentionDays: 1 },
    updateAgent: { agentName: "Theirs" },
    createDraft: { change: UpdateAgentRequest.fromPartial({ ownerId, agentId, agentName: "Theirs" } as object) },
    updatePrompt: { promptContent: "Theirs" },
    updateDestination: { name: "Theirs" },
    batchAcceptEvents: {
      events: [{ ownerId, eventId, event: "conversation.completed", conversationId, payload: "{}" }],
    },
    appendTranscript: { sequence: 1, message: Message.fromPartial({ role: 1, content: "Theirs" }) },
    completeConversation: { outcome: 1 },
    converse: { turn: { ownerId, conversationId, sequence: 1, text: "Theirs", saidAt: undefined } },
    resendFailedDeliveries: { since: new Date(0) },
    addMobileNumber: { mobileNumber: { mobileNumber: "+15105550002", telephonyProvider: 1 } },
    // The id of the victim's session.
    signOut: { sessionId: given.sessionId },
  };
  return requests[name] ?? {};
}

describe.each(RPCS)("$service $name", ({ service, name }) => {
  const method = SERVICES[service][name];
  const fields = method?.requestDeserialize(Buffer.alloc(0)) ?? {};
  const isOwned = "ownerId" in fields || Object.keys(more(name)).length > 0;

  test("called by another owner with this owner's ids reveals and changes nothing", async () => {
    if (!isOwned) return expect(Object.keys(WITHOUT_OWNER)).toContain(name);
    const known = Object.entries(fields).map(([field, value]) => [field, given[field] ?? value]);
    const request = { ...Object.fromEntries(known), ...more(name) };
    const before = await rows.of(victim.ownerId);
    expect(before.join()).toContain(CANARY);
    const answer = await answerTo(service, name, request);
    if (typeof answer === "string") expect(REFUSALS).toContain(answer);
    expect(JSON.stringify(answer)).not.toContain(CANARY);
    expect(await rows.of(victim.ownerId)).toEqual(before);
  });
});

test("called by the owner with the same ids returns what the other owner must not see", async () => {
  const request = { ...given, ownerId: victim.ownerId, reference: { promptName: CANARY, promptVersion: undefined } };
  for (const [service, name] of [
    ["account", "listKeys"],
    ["account", "getCarrierCredentials"],
    ["agent", "listDynamicVariables"],
    ["conversation", "getConversation"],
    ["prompt", "getPrompt"],
    ["webhook-dispatcher", "listDestinations"],
  ] as const) {
    expect(JSON.stringify(await answerTo(service, name, request))).toContain(CANARY);
  }
});

/** @returns the answer, or the kind of its refusal */
async function answerTo(service: ServiceName, name: string, request: object): Promise<unknown> {
  const client = createClient(SERVICES[service], { peer: service, address: stack.address(service) });
  try {
    const call = client[name] as (given: unknown) => Promise<unknown> | AsyncIterable<unknown>;
    const isFed = SERVICES[service][name]?.requestStream === true;
    const answer = call(isFed ? fed(request) : request);
    return Symbol.asyncIterator in answer ? await Array.fromAsync(answer) : await answer;
  } catch (error) {
    if (error instanceof ServiceError) return error.kind;
    throw error;
  } finally {
    client.close();
  }
}

async function* fed(request: object) {
  yield request;
}
