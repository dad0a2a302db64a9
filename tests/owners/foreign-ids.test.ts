import { afterAll, describe, expect, test } from "bun:test";
import type { ServiceName } from "@parley/dev/stack/plan.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { AgentServiceService, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { Message } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { ConversationServiceService, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { MessagingServiceService } from "@parley/proto/parley/messaging/v1/messaging_service.ts";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import type { Definition } from "@parley/shared/rpc/definition";
import { ADMITTED } from "@parley/shared/rpc/tls/peers";
import { createObjects, unknownNames } from "../kit/owners/owned-objects.ts";
import { shapeOf } from "../kit/owners/shape-of.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";

/** A text in every field of the victim's objects. */
const CANARY = "canary-of-the-victim";

const SERVICES: Readonly<Record<ServiceName, Definition>> = {
  account: AccountServiceService,
  agent: AgentServiceService,
  conversation: ConversationServiceService,
  knowledge: KnowledgeServiceService,
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
  connectListener: "is given a secret",
  endListener: "is given a secret",
  getWidget: "returns an agent's owner and its public widget, only to the messaging service",
  createWidgetToken: "returns only what the widget shows to everybody",
  openWidgetToken: "is given a secret",
  handleCarrierCallback: "is given a signature",
  handleDailyWebhook: "is given a signature by a secret",
  checkCallbackId: "tells only that an id exists, as a callback without a right signature does",
  verifyWhatsAppWebhook: "is given a secret",
  checkWhatsAppConnection: "tells only that an id exists, as a callback without a right signature does",
  handleWhatsAppCallback: "is given a signature by a secret",
  findCarrier: "returns a carrier's owner, only to the services that its callbacks reach",
  findTrunk: "returns a number's owner, only to the voice service",
  listTrunks: "returns only ids, and only to the voice service",
  findCallee: "returns whose agent a number has, only to the voice and messaging services",
  authenticateSession: "is given a secret",
  signIn: "is given a password",
  recognizeDevice: "is given a signature by a secret",
  watchKeys: "tells of ids alone",
};

/** The kinds of refusal that a service may answer with when the object is another owner's. */
const REFUSALS = ["not_found", "forbidden", "invalid", "condition", "conflict", "unauthenticated"];

/** Methods whose answer tells of other owners by design. */
const TELLS_OF_OTHERS: Readonly<Record<string, string>> = {
  batchGetAgents: "says of each agent whether it is another owner's or nobody's",
  resolveKnowledgeBases: "says of each base whether it is another owner's or nobody's",
  batchGetPointers: "says of each agent whether it is another owner's or nobody's",
  batchGetAgentRuntimes: "says of each agent whether it is another owner's or nobody's",
  listChatSessions: "a filter by another owner's agent is refused, one by nobody's finds nothing, as specified",
  runTurns: "refuses each turn as completeTurn does",
  addMobileNumber: "a phone number belongs to one owner",
  confirmCode: "a phone number belongs to one owner",
  importCarrierNumber: "a phone number belongs to one owner",
};

/** Methods that change another owner's objects by design, and may therefore be called by the operator's command line alone. */
const OPERATORS: Readonly<Record<string, string>> = {
  proveMobileNumber: "the operator's word about a number replaces any other owner's claim",
};

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const [victim, hostile] = stack.owners;
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

const { names } = await createObjects(stack, model, victim, CANARY);
const change = { ownerId: victim.ownerId, agentId: names.agent_id, agentName: CANARY };
const drafted = await answerTo("agent", "createDraft", { change: UpdateAgentRequest.fromPartial(change as object) });
const all = { ...names, draft_id: (drafted as { draftId: string }).draftId };
/** The names of the victim's objects, by the fields of requests that hold them. */
/** Names of the same forms that nobody's objects have. */
const [theirs, nobodys] = [inFields(all), inFields(unknownNames(all))];

type Names = Readonly<Record<string, string>>;

/** The names by the protocol's fields: `agentId` for `agent_id`. */
function inFields(names: Names): Names {
  const field = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(names).map(([name, value]) => [field(name), value]));
}

/** The fields that hold names, with those that have several or another form. */
function fieldsOf(names: Names): Readonly<Record<string, unknown>> {
  const { agentId, conversationId, sessionId, promptName, provider, mobileNumber, trunkNumber } = names;
  const { knowledgeBaseId } = names;
  return {
    ...names,
    copiedAgentId: agentId,
    ownerId: hostile.ownerId,
    conversationIds: [conversationId, sessionId],
    references: [{ promptName }],
    knowledgeBaseIds: [knowledgeBaseId],
    contentId: newUuid(),
    providerName: provider,
    toMobileNumber: mobileNumber,
    toMobileNumbers: [mobileNumber],
    fromMobileNumber: trunkNumber,
    page: { number: 1, size: 100 },
    search: promptName,
  };
}

const TEST = { messages: ["Theirs"], assertions: [{ type: "contains", value: "theirs" }] };

/** Fields of requests that look like an object's name but are none. */
const OWN_FIELDS = [
  // What a client says of its user.
  "userId",
  "name",
  "afterId",
  "agentName",
  "modelName",
  "agentMobileNumbers",
  "moveNumbers",
];

test("every field of a request that may name an object has a value here", () => {
  const known = Object.keys(fieldsOf(theirs));
  const missing = RPCS.flatMap(({ service, name }) => {
    if (name in WITHOUT_OWNER || name in more(theirs)) return [];
    const fields = Object.keys(SERVICES[service][name]?.requestDeserialize(Buffer.alloc(0)) ?? {});
    return fields
      .filter((field) => /(?:Ids?|Names?|Numbers?|Keys?|Tokens?|[cC]ursor)$|^(?:name|keys|reference|turn)$/.test(field))
      .filter((field) => !known.includes(field) && !OWN_FIELDS.includes(field))
      .map((field) => `${service} ${name}: ${field}`);
  });
  expect(missing).toEqual([]);
});

/** Requests whose ids are nested, or that need more to mean anything. */
function more(names: Names): Readonly<Record<string, object>> {
  const { agentId, sessionId, conversationId, eventId, promptName, ownerSessionId, secretName = "" } = names;
  const { knowledgeBaseId, mobileNumber = "" } = names;
  const { ownerId } = hostile;
  const reference = { promptName, promptVersion: undefined };
  const page = { source: { $case: "page", value: { url: "https://shop.example/theirs" } } };
  const turn = Turn.fromPartial({ ownerId, agentId, sessionId, message: "Hi" } as object);
  return {
    completeTurn: { turn },
    controlConversation: { conversationId, action: { $case: "say", value: "Theirs" } },
    commandCall: { conversationId, command: { $case: "watch", value: true } },
    sendText: { conversationId, messageId: newUuid(), sequence: 1, text: "Theirs" },
    askModel: { conversationId, instruction: "Sum up." },
    waitForToolCalls: { conversationId, toolCallIds: ["tcl_theirs"] },
    giveClientResult: { conversationId, result: { toolCallId: "tcl_theirs", result: "Theirs", isError: false } },
    runCallTool: { conversationId, name: "end_call" },
    runTurns: { starts: [{ number: 1, turn, streamed: true, credit: 1, timeoutMs: 5_000, requestId: "theirs" }] },
    batchGetAgents: { keys: [{ ownerId, agentId }] },
    batchGetPointers: { keys: [{ ownerId, agentId }] },
    batchGetAgentRuntimes: { keys: [{ ownerId, agentId, agentVersion: 1 }] },
    publishAgentVersion: { agentVersion: 1 },
    getAgentVersion: { agentVersion: 1 },
    getVersionFigures: { agentVersions: [1] },
    compareVersions: { a: 1, b: 2 },
    setTraffic: { split: [{ agentVersion: 1, weight: 100 }] },
    getPrompt: { reference },
    createTest: { name: newId("tst"), definition: TEST },
    updateTest: { name: "Theirs" },
    createReplay: { max: 1, channel: "text" },
    createTool: { tool: Tool.fromPartial({ name: newId("tol"), kind: { $case: "client", value: {} } }) },
    updateTool: { tool: Tool.fromPartial({ description: "Theirs" }), fields: ["description"] },
    createSecret: { name: newId("key"), value: "not theirs" },
    createAlert: { metric: "cost", windowMinutes: 5, threshold: 1 },
    updateAlert: { name: "Theirs" },
    countDeliveries: { since: new Date(0) },
    setSecret: { name: secretName, value: "not theirs" },
    deleteSecret: { name: secretName },
    revealSecrets: { names: [secretName] },
    findSecrets: { names: [secretName] },
    findLostNumbers: { mobileNumbers: [mobileNumber] },
    batchGetPrompts: { items: [{ ownerId, reference }] },
    acquirePrompts: { uses: [{ promptType: 1, reference }] },
    setPromptReferences: { agentName: "Theirs", agentGone: true },
    sendWhatsAppTemplate: {
      toMobileNumber: "+15105550009",
      template: { name: "theirs", language: "en", components: [] },
    },
    setOwnerSettings: { retentionDays: 1, revision: "1" },
    setWantedEvents: { events: ["conversation.started"], revision: "1" },
    recordEvent: { event: "tool.changed", eventUuid: newUuid(), object: "{}", happenedAt: new Date() },
    updateSettings: { retentionDays: 1 },
    updateAgent: { agentName: "Theirs" },
    tryStartWebhook: { channel: "chat" },
    createDraft: { change: UpdateAgentRequest.fromPartial({ ownerId, agentId, agentName: "Theirs" } as object) },
    updatePrompt: { promptContent: "Theirs" },
    restorePromptVersion: { promptVersion: 1 },
    diffPromptVersions: { from: "1", to: "latest" },
    setPromptLabel: { promptVersion: 1 },
    updateDestination: { name: "Theirs" },
    batchAcceptEvents: {
      events: [{ ownerId, eventId, event: "conversation.completed", conversationId, payload: "{}" }],
    },
    appendTranscript: { sequence: 1, message: Message.fromPartial({ role: 1, content: "Theirs" }) },
    completeConversation: { outcome: 1 },
    converse: { turn: { ownerId, conversationId, sequence: 1, text: "Theirs", saidAt: undefined } },
    holdTestCall: { start: { ownerId, agentId, agentVersion: 1, conversationId: newUuid() } },
    resendFailedDeliveries: { since: new Date(0) },
    createKnowledgeBase: { name: "Theirs" },
    createDocument: { name: "Theirs", content: page },
    replaceDocument: { name: "Theirs", content: page },
    search: { query: CANARY, maxChunks: 6 },
    gatherKnowledge: {
      uses: [{ knowledgeBaseId, whole: false, maxChunks: 6, maxCharacters: 8_000 }],
      query: CANARY,
      withinMs: 2_000,
    },
    addMobileNumber: { mobileNumber: { mobileNumber: "+15105550002", telephonyProvider: 1 } },
    signOut: { sessionId: ownerSessionId },
  };
}

function requestOf(service: ServiceName, name: string, names: Names): object {
  const known = fieldsOf(names);
  const fields = SERVICES[service][name]?.requestDeserialize(Buffer.alloc(0)) ?? {};
  const own = Object.entries(fields).map(([field, value]) => [field, known[field] ?? value]);
  return { ...Object.fromEntries(own), ...more(names)[name] };
}

describe.each(RPCS)("$service $name", ({ service, name }) => {
  const fields = SERVICES[service][name]?.requestDeserialize(Buffer.alloc(0)) ?? {};

  test("called by another owner with this owner's names answers as for names of nobody, and changes nothing", async () => {
    if (name in OPERATORS)
      return expect(ADMITTED[service][`${name[0]?.toUpperCase()}${name.slice(1)}`]).toEqual(["parley"]);
    const isOwned = "ownerId" in fields || name in more(theirs);
    if (!isOwned) return expect(Object.keys(WITHOUT_OWNER)).toContain(name);
    const before = await rows.of(victim.ownerId);
    expect(before.join()).toContain(CANARY);
    const answer = await answerTo(service, name, requestOf(service, name, theirs));
    expect(await rows.of(victim.ownerId)).toEqual(before);
    expect(shapeOf(answer, theirs)).not.toContain(CANARY);
    if (isRefusal(answer)) expect(REFUSALS).toContain(answer.kind);
    if (name in TELLS_OF_OTHERS || LAST.includes(name)) return;
    const other = await answerTo(service, name, requestOf(service, name, nobodys));
    if (isRefusal(answer) && answer.kind === "forbidden")
      return expect(ACCESS).toContainEqual([answer.detail, isRefusal(other) ? other.detail : "no refusal"]);
    expect(shapeOf(answer, theirs)).toEqual(shapeOf(other, nobodys));
  });
});

/** The specification's exception: agents, conversations and sessions of others are refused in their own words. */
const ACCESS = ["agent", "conversation", "knowledge base", "session", "tool"].map((what) => [
  `You do not have access to this ${what}`,
  `${what[0]?.toUpperCase()}${what.slice(1)} not found`,
]);

test("called by the owner with the same names returns what the other owner must not see", async () => {
  for (const [service, name] of [
    ["account", "listKeys"],
    ["account", "getCarrierCredentials"],
    ["account", "listSecrets"],
    ["account", "revealSecrets"],
    ["agent", "listAgents"],
    ["agent", "getTool"],
    ["agent", "listTools"],
    ["agent", "getTest"],
    ["agent", "getTestRun"],
    ["agent", "getReplay"],
    ["agent", "listDynamicVariables"],
    ["conversation", "getConversation"],
    ["conversation", "listConversations"],
    ["knowledge", "listKnowledgeBases"],
    ["knowledge", "getDocument"],
    ["knowledge", "readDocument"],
    ["knowledge", "getChunk"],
    ["knowledge", "gatherKnowledge"],
    ["prompt", "getPrompt"],
    ["webhook-dispatcher", "listDestinations"],
  ] as const) {
    const request = { ...requestOf(service, name, theirs), ownerId: victim.ownerId };
    expect([name, JSON.stringify(await answerTo(service, name, request))]).toEqual([
      name,
      expect.stringContaining(CANARY),
    ]);
  }
});

interface Refusal {
  kind: string;
  detail: string;
  violations: unknown;
}

const isRefusal = (answer: unknown): answer is Refusal =>
  typeof answer === "object" && answer !== null && "kind" in answer && "violations" in answer;

/** @returns the answer, or its refusal */
async function answerTo(service: ServiceName, name: string, request: object): Promise<unknown> {
  const client = createClient(SERVICES[service], { peer: service, address: stack.address(service) });
  try {
    const call = client[name] as (given: unknown) => Promise<unknown> | AsyncIterable<unknown>;
    const isFed = SERVICES[service][name]?.requestStream === true;
    const answer = call(isFed ? fed(request) : request);
    return Symbol.asyncIterator in answer ? await Array.fromAsync(answer) : await answer;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { kind, detail, violations } = error;
    return { kind, detail, violations } satisfies Refusal;
  } finally {
    client.close();
  }
}

async function* fed(request: object) {
  yield request;
}
