import { afterAll, describe, expect, test } from "bun:test";
import { newId, newUuid } from "@parley/shared/ids";
import { type Answer, answerOf } from "../kit/api.ts";
import { createObjects, keyFor, type OwnedObjects, unknownNames } from "../kit/owners/owned-objects.ts";
import { shapeOf } from "../kit/owners/shape-of.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { PASSWORD } from "../kit/test-owner.ts";

type Names = OwnedObjects["names"];

interface Operation {
  method: string;
  path: string;
  operationId: string;
  /** Absent: an API key. */
  security?: Record<string, string[]>[];
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** A text in every one of the victim's objects. */
const CANARY = "canary-of-the-routes";

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const [{ ownerId: victimId }] = stack.owners;
const document = (await stack.api("").get("//openapi.json")).body;
/** These make objects with the victim's names, which later requests would find. */
const LAST = ["createPrompt", "addDoNotCall", "addClonedVoice", "signOut"];
const operations = Object.entries<Record<string, Omit<Operation, "method" | "path">>>(document.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, rest]): Operation => ({ method: method.toUpperCase(), path, ...rest })),
  )
  .toSorted((a, b) => LAST.indexOf(a.operationId) - LAST.indexOf(b.operationId));
const victim = await createObjects(stack, model, stack.owners[0], CANARY);
const hostile = await createObjects(stack, model, stack.owners[1], "own-objects");
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

/** Path parameters that name different objects on some routes. */
const PATHS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  connectWebCall: { conversation_id: "web_call_id" },
  endWebCall: { conversation_id: "web_call_id" },
  handlePlivoCallback: { callback_id: "plivo_callback_id" },
  handleDailyWebhook: { domain_id: "carrier_id" },
};
/** Path parameters that every owner's objects have. */
const NUMBERS: Readonly<Record<string, string>> = { agent_version: "1", other_version: "1" };
const EVENTS: Readonly<Record<string, string>> = { handleTwilioCallback: "voice", handlePlivoCallback: "answer" };

const CALLEE = "+14155550177";
const template = { name: "foreign", language: "en" };
const TEST = { messages: ["Theirs"], assertions: [{ type: "contains", value: "theirs" }] };

/** The bodies that name objects. */
const BODIES: Readonly<Record<string, (names: Names) => object>> = {
  createAgent: ({ prompt_name }) => ({ agent_name: "Ours", agent_type: "INBOUND", prompt: { prompt_name } }),
  updateAgent: ({ prompt_name, tool_id, agent_id, knowledge_base_id }) => ({
    agent_name: "Theirs",
    prompt: { prompt_name },
    custom_tools: [{ tool_id }],
    handoffs: [{ agent_id, when: "Always." }],
    knowledge: [{ knowledge_base_id, mode: "tool" }],
  }),
  createTest: () => ({ ...TEST, name: newId("tst") }),
  createTestFromConversation: ({ conversation_id }) => ({ conversation_id }),
  updateTest: () => ({ name: "Theirs" }),
  runTests: ({ test_id }) => ({ tests: [test_id] }),
  createReplay: ({ conversation_id }) => ({
    agent_version: "latest",
    conversations: { conversation_ids: [conversation_id] },
  }),
  publishAgentVersion: () => ({ note: "Theirs" }),
  setAgentTraffic: () => ({ split: [{ agent_version: 1, weight: 100 }] }),
  createPrompt: ({ prompt_name }) => ({ prompt_name, prompt_content: "Ours" }),
  updatePrompt: () => ({ prompt_content: "Theirs" }),
  restorePromptVersion: () => ({ prompt_version: 1 }),
  setPromptLabel: () => ({ prompt_version: 1 }),
  createTool: ({ secret_name }) => ({
    name: "ours",
    description: "Ours",
    type: "http",
    method: "GET",
    url: "https://shop.example/",
    auth: { type: "bearer", secret: secret_name },
  }),
  updateTool: () => ({ description: "Theirs" }),
  tryTool: () => ({ arguments: {} }),
  tryStartWebhook: () => ({ channel: "chat" }),
  importTools: () => ({ curl: "curl https://shop.example/" }),
  createKnowledgeBase: () => ({ name: "Ours" }),
  updateKnowledgeBase: () => ({ name: "Theirs" }),
  createDocument: () => ({ url: "https://shop.example/theirs" }),
  searchKnowledgeBase: () => ({ query: "Theirs" }),
  replaceDocument: () => ({ url: "https://shop.example/theirs" }),
  createAlert: () => ({ name: "Theirs", metric: "cost", window_minutes: 5, threshold: 1 }),
  sendTestEvent: () => ({ event: "conversation.started" }),
  updateAlert: () => ({ name: "Theirs" }),
  createSecret: () => ({ name: newId("key"), value: "not theirs" }),
  setSecret: () => ({ value: "not theirs" }),
  sendMessage: ({ agent_id, session_id }) => ({ agent_id, session_id, message: "Hi", streaming: false }),
  createCall: ({ agent_id, trunk_number }) => ({
    agent_id,
    to_mobile_number: CALLEE,
    from_mobile_number: trunk_number,
  }),
  createCallBatch: ({ agent_id, trunk_number }) => ({
    agent_id,
    from_mobile_number: trunk_number,
    calls: [{ to_mobile_number: CALLEE }],
    start_at: "2999-01-01",
  }),
  createWebCall: ({ agent_id }) => ({ agent_id }),
  startTestChat: ({ agent_id }) => ({ agent_id }),
  createDailySession: ({ agent_id }) => ({ agent_id }),
  sendWhatsAppMessage: ({ agent_id }) => ({ agent_id, to_mobile_number: CALLEE, template }),
  controlConversation: ({ agent_id }) => ({ action: "handoff", agent_id }),
  updateDestination: () => ({ name: "Theirs" }),
  resendFailedDeliveries: () => ({ since: "2020-01-01T00:00:00Z" }),
  addDoNotCall: ({ mobile_number }) => ({ mobile_number }),
  addClonedVoice: ({ provider, voice_id }) => ({
    provider,
    voice_id,
    name: "Ours",
    gender: "NEUTRAL",
    language: "en",
  }),
  importCarrierNumber: () => ({ mobile_number: CALLEE }),
  proveMobileNumber: () => ({ code: "042137" }),
  connectCarrier: ({ agent_id, phone_number_id, whatsapp_number }) => ({
    provider: "WHATSAPP",
    phone_number_id,
    access_token: "not theirs",
    app_secret: "not theirs",
    verify_token: "not theirs",
    mobile_number: whatsapp_number,
    agent_id,
  }),
  createWidgetToken: ({ agent_id }) => ({ agent_id, token: hostile.names.widget_token }),
  // The attempts of an email are limited, and other files use the example's.
  signIn: () => ({ email: `${newUuid()}@example.com`, password: PASSWORD }),
};

/** Operations whose body names no object, and those whose answer tells of other owners by design. */
const BODIES_WITHOUT_OBJECTS = ["changePassword", "createKey", "createDestination", "checkCallBatch"];
const OF_THE_CALLER_ALONE = ["updateSettings", ...BODIES_WITHOUT_OBJECTS];
const TELLS_OF_OTHERS: Readonly<Record<string, string>> = {
  listChatSessions: "a filter by another owner's agent is 403, by nobody's empty, as specified",
  addMobileNumber: "a phone number belongs to one owner",
  createWidgetToken: "the widget of every agent is public",
  handleTwilioCallback: "a wrong signature is 403, an unknown ID 404",
  handlePlivoCallback: "a wrong signature is 403, an unknown ID 404",
  handleDailyWebhook: "a wrong signature is 403, an unknown ID 404",
  handleWhatsAppCallback: "a wrong signature is 403, an unknown ID 404",
};

/** What a query may name, by parameter. */
const IN_QUERY: Readonly<Record<string, keyof Names>> = {
  agent_id: "agent_id",
  conversation_id: "conversation_id",
  test_id: "test_id",
  batch_id: "batch_id",
  destination_id: "destination_id",
  to_mobile_number: "mobile_number",
  search: "prompt_name",
};
const IS_NAME = /_(id|ids|name|number|key)$|^(search|cursor|page_token|after|before)$/;

test("every parameter and body of a route that may name an object has one here", () => {
  const isKnown = ({ operationId }: Operation, name: string) =>
    name in { ...victim.names, ...PATHS[operationId], ...IN_QUERY, ...NUMBERS } || name === "event";
  const missing = operations.flatMap((operation) => {
    const named = operation.parameters
      .filter((parameter) => parameter.in === "path" || (parameter.in === "query" && IS_NAME.test(parameter.name)))
      .filter(({ name }) => !isKnown(operation, name))
      .map(({ name }) => `${operation.operationId}: ${name}`);
    const { operationId, requestBody } = operation;
    const hasBody =
      operationId in BODIES || operationId in TELLS_OF_OTHERS || OF_THE_CALLER_ALONE.includes(operationId);
    return requestBody && !hasBody && !isOpen(operation) ? [...named, `${operationId}: its body`] : named;
  });
  expect(missing).toEqual([]);
});

const reads = operations.filter(
  (operation) => operation.method === "GET" && operation.path.includes("{") && !isOpen(operation),
);

test.each(reads.map((operation) => [operation.operationId, operation] as const))(
  "%s called by the owner itself finds the object",
  async (_, operation) => {
    expect((await send(operation, victim.names, newUuid(), 0)).status).toBe(200);
  },
);

describe.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", (id, operation) => {
  test("called by another owner with this owner's names answers as for names of nobody, and changes nothing", async () => {
    const before = await rows.of(victimId);
    expect(before.join()).toContain(CANARY);
    const key = operation.method === "POST" ? keyFor(CANARY, operation.path.replace("/v1/public", "")) : newUuid();
    const theirs = await send(operation, victim.names, key);
    expect(await rows.of(victimId)).toEqual(before);
    const unknown = unknownNames(victim.names);
    const nobodys = await send(operation, unknown, newUuid());
    expect(shapeOf(theirs.body, { ...unknown, ...victim.names })).not.toContain(CANARY);
    expect(theirs.headers.get("idempotent-replayed")).toBeNull();
    if (id in TELLS_OF_OTHERS) return expect(theirs.status).toBeWithin(200, 500);
    // The specification's exception: agents, conversations and sessions of others are 403.
    if (theirs.status === 403 && nobodys.status === 404)
      return expect(REFUSALS).toContainEqual([theirs.body.detail, nobodys.body.detail]);
    expect([theirs.status, shapeOf(theirs.body, victim.names)]).toEqual([
      nobodys.status,
      shapeOf(nobodys.body, unknown),
    ]);
  });
});

const REFUSALS = ["agent", "conversation", "knowledge base", "session", "tool"].map((what) => [
  `You do not have access to this ${what}`,
  `${what[0]?.toUpperCase()}${what.slice(1)} not found`,
]);

function isOpen({ security }: Operation): boolean {
  return security !== undefined && !security.some((scheme) => "Session" in scheme);
}

/** Sends a request of the hostile owner, or of the victim, about objects of these names. */
async function send(operation: Operation, names: Names, key: string, owner: 0 | 1 = 1): Promise<Answer> {
  const { operationId, method, path, parameters, requestBody } = operation;
  const [[type, { example }] = ["", { example: undefined }]] = Object.entries(requestBody?.content ?? {});
  const body = BODIES[operationId]?.(names) ?? example;
  const nameOf = (parameter: string) => {
    const own = PATHS[operationId]?.[parameter] ?? parameter;
    const found = parameter === "event" ? EVENTS[operationId] : (NUMBERS[parameter] ?? names[own]);
    return encodeURIComponent(found ?? "");
  };
  const query = parameters.flatMap(({ name, in: where }) => {
    const named = where === "query" ? IN_QUERY[name] : undefined;
    return named ? [`${name}=${encodeURIComponent(names[named] ?? "")}`] : [];
  });
  if (["listVoices", "listClonedVoices"].includes(operationId)) query.push("provider=OPENAI");
  if (operationId === "diffPromptVersions") query.push("from=1");
  if (operationId === "verifyWhatsAppWebhook")
    query.push("hub.mode=subscribe", "hub.challenge=1", `hub.verify_token=${hostile.callers.whatsApp?.verifyToken}`);
  const url = `${stack.url}${path.replaceAll(/\{(\w+)\}/g, (_, name) => nameOf(name))}`;
  const text = body === undefined ? undefined : encodedAs(type, body);
  const isKeyed = operation.security === undefined && method !== "GET";
  const response = await fetch(query.length > 0 ? `${url}?${query.join("&")}` : url, {
    method,
    headers: {
      ...(await credentials(operation, owner)),
      ...(text !== undefined && { "content-type": type }),
      ...(isKeyed && { "idempotency-key": key }),
      ...hostile.callers.proof(operationId, url, text ?? ""),
    },
    ...(text !== undefined && { body: text }),
  });
  return answerOf(response);
}

async function credentials(operation: Operation, owner: 0 | 1): Promise<Record<string, string>> {
  if (operation.security === undefined) return { ...FROM, "x-api-key": stack.owners[owner].apiKey };
  if (isOpen(operation)) return FROM;
  sessions[owner] ??= signIn(owner);
  const session = await (operation.operationId === "signOut" ? signIn(owner) : sessions[owner]);
  return { ...FROM, cookie: `parley_session=${session}` };
}

/** One for all requests, because some answers list them. */
const sessions: Partial<Record<0 | 1, Promise<string>>> = {};

async function signIn(of: 0 | 1): Promise<string> {
  const { owner } = await stack.accounts.getOwner({ ownerId: stack.owners[of].ownerId });
  const { token } = await stack.accounts.signIn({ email: owner?.email ?? "", password: PASSWORD });
  return token;
}

/** An address that no other file has, because addresses are limited. */
const FROM = { "x-forwarded-for": `10.${[...crypto.getRandomValues(new Uint8Array(3))].join(".")}` };

function encodedAs(type: string, body: unknown): string {
  if (type === "application/json") return JSON.stringify(body);
  return type === "application/x-www-form-urlencoded"
    ? new URLSearchParams(body as Record<string, string>).toString()
    : String(body);
}
