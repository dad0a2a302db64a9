import { afterAll, describe, expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import { eventually } from "@parley/testkit/eventually";
import fc from "fast-check";
import type { Answer, Api } from "../kit/api.ts";
import { violationsBy } from "../kit/document-schemas.ts";
import { testsOf } from "../kit/owners/owned-objects.ts";
import { placeRecording } from "../kit/recordings.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { arbitraryOf, HOSTILE, type Schema } from "../kit/schema-arbitrary.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, createSession, PASSWORD } from "../kit/test-owner.ts";
import { addTrunkNumber } from "../kit/trunk.ts";
import { connectWhatsApp } from "../kit/whatsapp.ts";

/** The status of what needs a phone number of the operator's, a tool of an MCP server, a page or a start webhook: there is none. */
const REFUSED: Readonly<Record<string, number>> = {
  // Its conversation is a chat.
  listenToConversation: 400,
  callWithCode: 400,
  proveMobileNumber: 422,
  acceptToolChanges: 400,
  refreshDocument: 400,
  tryStartWebhook: 400,
};

interface Operation {
  method: string;
  path: string;
  operationId: string;
  /** Absent: an API key. */
  security?: { Session?: string[] }[];
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { headers: object; content?: Record<string, { schema: Schema }> }>;
}

// Every route comes from the document, so that a new one is tested without a line here.
const stack: RunningStack = await sharedStack();
const rows = await openOwnerRows(stack.databaseUrls);
const model: ScriptedModel = await startScriptedModel();
const api = stack.api(stack.owners[0].apiKey);
const foreign = stack.api(stack.owners[1].apiKey);
const sessions = await Promise.all(stack.owners.map(({ ownerId }) => createSession(stack, ownerId)));
const [manage, foreignManage] = [stack.manage(sessions[0] ?? ""), stack.manage(sessions[1] ?? "")];
const document = (await api.get("//openapi.json")).body;
const schemas: Record<string, Schema> = document.components.schemas;
const all: Operation[] = Object.entries<Record<string, Omit<Operation, "method" | "path">>>(document.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, rest]) => ({ method: method.toUpperCase(), path, ...rest })),
);
const needsKey = ({ security }: Operation) => security === undefined;
const needsSession = ({ security }: Operation) => security?.some(({ Session }) => Session) ?? false;
const isGated = (operation: Operation) =>
  needsKey(operation) || needsSession(operation) || operation.operationId === "signIn";
const operations = all.filter(isGated);
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

/** One owner's objects, by the names of the path parameters that name them. */
const TEXT = "of-the-contract";
const mine: Record<string, string> = {};
/** The objects that fuzzing may change and delete. */
const fuzzed: Record<string, string> = {};
let numbers = 0;
const fields = {
  tools: { end_call: true },
  agent_name: TEXT,
  prompt_content: `${TEXT} {{company}}`,
  first_message_prompt: TEXT,
};
mine.agent_id = await createAgent(api, model, fields);
mine.agent_version = "1";
mine.other_version = "1";
const agentBody = { agent_id: mine.agent_id, message: TEXT, streaming: false, metadata: { note: TEXT } };
mine.session_id = (await api.post("/chat", agentBody)).body.session_id;
mine.conversation_id = mine.session_id ?? "";
await placeRecording(stack, { ownerId: stack.owners[0].ownerId, conversationId: mine.conversation_id });
mine.prompt_name = TEXT;
mine.tool_id = (await api.post("/tools", newTool("of_the_contract"))).body.id;
Object.assign(mine, await knowledgeOf(api, TEXT));
await api.post("/prompts", { prompt_name: TEXT, prompt_content: TEXT });
mine.label = await labelled(TEXT);
mine.ended_id = await endedChat(mine.agent_id);
const ofTests = { agent_id: mine.agent_id, conversation_id: mine.ended_id, canary: TEXT };
Object.assign(mine, await testsOf(api, ofTests));
Object.assign(mine, await managed(manage, TEXT));
const { ownerId } = stack.owners[0];
const { connectionId } = await connectWhatsApp(stack, ownerId, newNumber().mobile_number, mine.agent_id);
mine.connection_id = connectionId;
mine.callback_id = mine.carrier_id ?? "";
fuzzed.agent_id = await createAgent(foreign, model);
fuzzed.session_id = (await foreign.get(`/agents/${fuzzed.agent_id}/first-message`)).body.session_id;
fuzzed.conversation_id = fuzzed.session_id ?? "";
fuzzed.tool_id = (await foreign.post("/tools", newTool("fuzzed"))).body.id;
Object.assign(fuzzed, await knowledgeOf(foreign, "fuzzed"));
fuzzed.prompt_name = `agent-${fuzzed.agent_id}`;
Object.assign(fuzzed, await managed(foreignManage, "fuzzed"));

/** A label of a prompt's first version. */
async function labelled(promptName: string): Promise<string> {
  const { status } = await api.send("PUT", `/prompts/${promptName}/labels/${TEXT}`, {
    body: JSON.stringify({ prompt_version: 1 }),
    headers: { "content-type": "application/json" },
  });
  expect(status).toBe(200);
  return TEXT;
}

async function knowledgeOf(as: Api, name: string): Promise<Record<string, string>> {
  const { id } = (await as.post("/knowledge-bases", { name })).body;
  const document = await as.post(`/knowledge-bases/${id}/documents`, { name, text: TEXT });
  return { knowledge_base_id: id, document_id: document.body.id };
}

/** One object of each kind in the management API; its delivery has failed. */
async function managed(as: Api, name: string): Promise<Record<string, string>> {
  const made = async (path: string, body: object = {}) => {
    const answer = await as.post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { key_id } = await made("/keys", { name });
  const secret_name = `${name}-${Bun.randomUUIDv7()}`;
  await made("/secrets", { name: secret_name, value: "a secret of eight" });
  const { destination_id } = await made("/destinations", { name, url: "http://127.0.0.1:1/", request_type: "POST" });
  const { alert_id } = await made("/alerts", { name, metric: "cost", window_minutes: 5, threshold: 1 });
  const { delivery_id } = await made(`/destinations/${destination_id}/test`);
  await eventually(async () => expect((await as.get(`/deliveries/${delivery_id}`)).body.status).toBe("failed"));
  const { mobile_number } = await made("/mobile-numbers", newNumber());
  await made("/do-not-call", { mobile_number });
  const { provider, id } = await made("/cloned-voices", newVoice(name));
  const { carrier_id } = await made("/carriers", newTrunk());
  const { sessions } = (await as.get("/sessions")).body;
  const owner_session_id = sessions.find((session: { is_current: boolean }) => !session.is_current)?.session_id;
  return {
    ...{ key_id, secret_name, destination_id, delivery_id, mobile_number, provider, voice_id: id },
    ...{ owner_session_id, carrier_id, alert_id },
  };
}

function newNumber() {
  return { mobile_number: `+1628555${String(++numbers).padStart(4, "0")}`, telephony_provider: "TWILIO" };
}

function newTrunk() {
  return { provider: "SIP", host: `trunk-${++numbers}.example`, allowed_addresses: [`198.51.100.${numbers % 250}`] };
}

/** Nothing answers its calls. */
function newTool(name: string) {
  return { name, description: TEXT, type: "http", method: "GET", url: "https://shop.example/" };
}

function newTest(name: string) {
  return { name, messages: [TEXT], assertions: [{ type: "not_contains", value: TEXT }] };
}

function newVoice(name: string) {
  return { provider: "OPENAI", voice_id: Bun.randomUUIDv7(), name, gender: "NEUTRAL", language: "en" };
}

/** Sends a request unchanged, whichever part of the API it belongs to. */
const pathTo = (operation: Operation, values: Record<string, string>) =>
  `/${operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "none"))}`;

const sessionsOf = new Map<string, Promise<Api>>();

/** The caller that the operation needs: a key, or a session that no other operation ends. */
async function callerOf(operation: Operation, owner: 0 | 1): Promise<Api> {
  if (needsKey(operation)) return owner === 0 ? api : foreign;
  if (!needsSession(operation)) return stack.manage("");
  const name = `${operation.operationId} of ${owner}`;
  const session = sessionsOf.get(name) ?? signIn(owner);
  if (operation.operationId !== "signOut") sessionsOf.set(name, session);
  return session;
}

async function signIn(owner: 0 | 1): Promise<Api> {
  const { ownerId } = stack.owners[owner];
  const { owner: found } = await stack.accounts.getOwner({ ownerId });
  const { token } = await stack.accounts.signIn({ email: found?.email ?? "", password: PASSWORD });
  return stack.manage(token);
}

const send = (as: Api, operation: Operation, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  as.send(operation.method, path, {
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
  });

/** A body that the operation accepts, as far as one is needed to pass validation. */
function goodBody({ operationId }: Operation): object | undefined {
  const bodies: Record<string, object> = {
    createAgent: { agent_name: "A", agent_type: "INBOUND" },
    updateAgent: { agent_description: "B" },
    createPrompt: { prompt_name: "contract", prompt_content: "C" },
    updatePrompt: { prompt_content: "D" },
    restorePromptVersion: { prompt_version: 1 },
    setPromptLabel: { prompt_version: 1 },
    createTool: newTool("contract"),
    updateTool: { description: "E" },
    createTest: newTest("contract"),
    updateTest: { repeat: 2 },
    createTestFromConversation: { conversation_id: mine.ended_id },
    createReplay: { agent_version: "latest", max: 1 },
    tryTool: { arguments: {} },
    importTools: { curl: "curl https://example.com/" },
    createKnowledgeBase: { name: "contract" },
    updateKnowledgeBase: { description: "F" },
    searchKnowledgeBase: { query: "G" },
    createDocument: { name: "contract", text: "H" },
    replaceDocument: { text: "I" },
    createAlert: { name: "contract", metric: "cost", window_minutes: 5, threshold: 1 },
    updateAlert: { name: "contract" },
    createSecret: { name: "contract", value: "a secret of eight" },
    setSecret: { value: "another of eight" },
    signIn: { email: "nobody@example.com", password: PASSWORD },
    changePassword: { current_password: "not the right one", new_password: PASSWORD },
    createKey: { name: "contract", scopes: ["chat"], expires_at: "2999-01-01" },
    createDestination: { name: "contract", url: "https://example.com/", request_type: "PUT" },
    updateDestination: { name: TEXT },
    resendFailedDeliveries: { since: "2020-01-01T00:00:00Z" },
    addMobileNumber: newNumber(),
    connectCarrier: newTrunk(),
    proveMobileNumber: { code: "042137" },
    importCarrierNumber: { mobile_number: newNumber().mobile_number },
    addClonedVoice: newVoice("contract"),
    updateSettings: { retention_days: 90 },
    publishAgentVersion: { note: TEXT },
    setAgentTraffic: { split: [{ agent_version: 1, weight: 100 }] },
    sendMessage: { ...agentBody, session_id: mine.session_id },
    controlConversation: { action: "say", text: TEXT },
    createWebCall: { agent_id: mine.agent_id },
    startTestChat: { agent_id: mine.agent_id },
    createDailySession: { agent_id: mine.agent_id },
    createCallBatch: { agent_id: mine.agent_id, calls: [{ to_mobile_number: "+14155550123" }] },
    checkCallBatch: { csv: "to_mobile_number,customer_name\n+14155550123,Ada\n" },
    addDoNotCall: { mobile_number: "+14155550999" },
    createCall: { agent_id: mine.agent_id, to_mobile_number: "+14155550123" },
    sendWhatsAppMessage: {
      agent_id: mine.agent_id,
      to_mobile_number: "+14155550123",
      template: { name: "contract", language: "en" },
    },
  };
  return bodies[operationId];
}

describe.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  "%s",
  (_, operation) => {
    test("without a key or a session answers 401 and nothing else", async () => {
      const answer = await send(stack.api(""), operation, pathTo(operation, mine), goodBody(operation));
      const detail = needsKey(operation)
        ? "API key is missing"
        : needsSession(operation)
          ? "Not signed in"
          : "Invalid email or password";
      expect([answer.status, answer.body]).toEqual([401, { detail }]);
    });

    test("answers as the OpenAPI document says", async () => {
      const { caller, body, ids } = await allowed(operation);
      // A DELETE gets objects of its own, because the other operations still need these.
      const values =
        operation.method === "DELETE" ? await doomed(operation) : { ...mine, ...(await readied(operation)), ...ids };
      const answer = await send(caller, operation, withRequiredQuery(operation, values), body);
      expect(answer.status).toBe(REFUSED[operation.operationId] ?? 200);
      expectDocumented(operation, answer);
    });

    test("answers a fuzzed request with a documented status, never 5xx", async () => {
      const caller = await callerOf(operation, 1);
      await fc.assert(
        fc.asyncProperty(requestOf(operation), async ({ path, body, headers }) => {
          const answer = await send(caller, operation, path, body, headers);
          expectDecided(operation, answer);
        }),
        { numRuns: 12, interruptAfterTimeLimit: 20_000 },
      );
    });

    test("answers methods it does not know with 404 or 405", async () => {
      const known = all.filter(({ path }) => path === operation.path).map(({ method }) => method);
      for (const method of ["PUT", "OPTIONS", "TRACE", "PURGE"].filter((each) => !known.includes(each))) {
        const answer = await api.send(method, pathTo(operation, mine)).catch(() => null);
        // A client may refuse to send a method; the server must not accept it.
        if (answer) expect([404, 405]).toContain(answer.status);
      }
    });

    if (!operation.requestBody) return;
    test("answers a malformed body with a 4xx", async () => {
      const caller = await callerOf(operation, 1);
      const json = { "content-type": "application/json" };
      type Malformed = [string, Record<string, string>, number[]];
      const malformed: Malformed[] = [
        ...(operation.requestBody?.required ? [["", json, [400]] satisfies Malformed] : []),
        ["{", json, [400]],
        ["[]", json, [400]],
        ["null", json, [400]],
        ['"text"', json, [400]],
        ["\u0000", json, [400]],
        [`{"a":${"[".repeat(1_500)}${"]".repeat(1_500)}}`, json, [400, 422]],
        ['{"a":1e999}', json, [422]],
        ['{"a":"\\u0000"}', json, [422]],
        [`{"a":"${"x".repeat(4 * 1024 * 1024)}"}`, json, [413]],
        ["{}", { "content-type": "text/plain" }, [415]],
        ["a=1", { "content-type": "application/x-www-form-urlencoded" }, [415]],
      ];
      for (const [at, [body, headers, statuses]] of malformed.entries()) {
        // Each request has its own address, because too many wrong passwords from one would be refused.
        const from = { ...headers, "x-forwarded-for": `192.0.2.${at}` };
        const answer = await caller.send(operation.method, pathTo(operation, mine), { body, headers: from });
        expect(statuses).toContain(answer.status);
        expect(answer.body).toMatchObject({ detail: expect.any(String) });
      }
    });
  },
);

// Visitors' browsers and carriers: instead of a key, they show a token or signature that is wrong or another owner's.
describe.each(
  all
    .filter((each) => !isGated(each))
    .map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
)("%s, which needs no key,", (_, operation) => {
  const [[type, media] = ["", undefined]] = Object.entries(operation.requestBody?.content ?? {});
  const sendAs = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    stack.api("").send(operation.method, path, {
      ...(media && { body: encodedAs(type, body) }),
      headers: { ...(media && { "content-type": type }), ...headers },
    });

  test("refuses unauthenticated callers, and changes nothing", async () => {
    const before = await rows.of(stack.owners[0].ownerId);
    const query = operation.path.includes("whatsapp") ? "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=x" : "";
    const path = `${pathTo(operation, mine)}${query}`;
    for (const headers of [{}, { authorization: "Bearer x", origin: "https://shop.example", ...FORGED }]) {
      const answer = await sendAs(path, media?.example, headers);
      expect([401, 403, 404]).toContain(answer.status);
      expectDecided(operation, answer);
    }
    expect(await rows.of(stack.owners[0].ownerId)).toEqual(before);
  });

  test("answers a fuzzed request with a documented status, never 5xx", async () => {
    await fc.assert(
      fc.asyncProperty(requestOf(operation), address, async ({ path, body, headers }, origin) => {
        expectDecided(operation, await sendAs(path, body, { ...FORGED, ...headers, origin }));
      }),
      { numRuns: 12, interruptAfterTimeLimit: 20_000 },
    );
  });

  if (!media) return;
  test("refuses a body that is huge, compressed or nothing", async () => {
    const path = pathTo(operation, mine);
    const bodies: [string, Record<string, string>][] = [
      ["x".repeat(4 * 1024 * 1024), {}],
      ["x", { "content-encoding": "gzip" }],
      ["", {}],
      ["\u0000", {}],
    ];
    for (const [body, headers] of bodies) {
      const answer = await stack.api("").send(operation.method, path, {
        body,
        headers: { "content-type": type, origin: "https://shop.example", ...FORGED, ...headers },
      });
      expect(answer.status).toBeWithin(400, 500);
      expectDecided(operation, answer);
    }
  });
});

/** `fc.webUrl` encodes every character for its paths first, which takes 0.8 s. */
const address = fc
  .tuple(fc.constantFrom("http", "https"), fc.webAuthority(), fc.constantFrom("", "/", "/,/q/", "/%F2%B6%9F%9E=+G2w"))
  .map(([scheme, host, path]) => `${scheme}://${host}${path}`);

const FORGED = {
  "x-hub-signature-256": `sha256=${"0".repeat(64)}`,
  "x-twilio-signature": "AAAA",
  "x-plivo-signature-v3": "AAAA",
  "x-plivo-signature-v3-nonce": "1",
};

function encodedAs(type: string, body: unknown): string {
  // A hostile value may not convert to a string: { toString: 3 }.
  const textOf = (value: unknown) => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  if (type === "application/json") return JSON.stringify(body) ?? "";
  if (type !== "application/x-www-form-urlencoded") return textOf(body);
  return Object.entries(body ?? {})
    .map(([name, value]) => `${encoded(name)}=${encoded(textOf(value))}`)
    .join("&");
}

interface Allowed {
  caller: Api;
  body: object | undefined;
  /** The caller's own object that the operation is about. */
  ids?: Record<string, string>;
}

/** An owner with a phone number and a call. The call's progress changes rows, which are compared for the other owners. */
async function withPhone(operation: Operation): Promise<Allowed> {
  const { ownerId, apiKey } = await createOwner(stack.accounts);
  const caller = stack.api(apiKey);
  const number = `+1415556${String(++numbers).padStart(4, "0")}`;
  await addTrunkNumber(stack.accounts, ownerId, number);
  const agentId = await createAgent(caller, model, { agent_mobile_number: [number] });
  const call = { ...goodBody(operation), agent_id: agentId };
  const made = await caller.post("/calls", { agent_id: agentId, to_mobile_number: "+14155550123" });
  const calls = [{ to_mobile_number: "+14155550123" }];
  // Starts in the far future, so that it never begins.
  const batch = await caller.post("/call-batches", { agent_id: agentId, calls, start_at: "2999-01-01" });
  const body = goodBody(operation) && call;
  return { caller, body, ids: { call_id: made.body.call_id, batch_id: batch.body.batch_id } };
}

/** A caller that may run the operation, and a body. Operations that replace a password or a session have owners of their own. */
async function allowed(operation: Operation): Promise<Allowed> {
  if (operation.path.startsWith("/v1/public/call")) return withPhone(operation);
  if (operation.operationId !== "changePassword" && operation.operationId !== "signIn") {
    return { caller: await callerOf(operation, 0), body: goodBody(operation) };
  }
  const { ownerId } = await createOwner(stack.accounts);
  const caller = stack.manage(await createSession(stack, ownerId));
  const { owner } = await stack.accounts.getOwner({ ownerId });
  return operation.operationId === "signIn"
    ? { caller, body: { email: owner?.email, password: PASSWORD } }
    : { caller, body: { current_password: PASSWORD, new_password: "another four words here" } };
}

/** What an operation needs besides the existing objects. */
async function readied({ operationId }: Operation): Promise<Record<string, string>> {
  if (operationId === "getChunk") return documentWithChunk();
  if (operationId !== "analyzeConversation") return {};
  const agentId = await createAgent(api, model, {
    tools: { end_call: true },
    call_analysis_enabled: true,
    call_analysis_prompt: { custom_prompt: "Was the user helped?" },
  });
  return { conversation_id: await endedChat(agentId) };
}

/** A conversation that the agent's model has ended. */
async function endedChat(agentId: string): Promise<string> {
  model.next((exchange) => {
    exchange.toolCall("end_call", {});
    exchange.finish();
  });
  return (await api.post("/chat", { agent_id: agentId, message: "Goodbye", streaming: false })).body.session_id;
}

/** A document that has been read, with its only chunk. */
async function documentWithChunk(): Promise<Record<string, string>> {
  const ids = await knowledgeOf(api, "read");
  const chunk_id = await eventually(async () => {
    const { body } = await api.post(`/knowledge-bases/${ids.knowledge_base_id}/search`, { query: TEXT });
    expect(body.chunks).toHaveLength(1);
    return body.chunks[0].chunk_id;
  });
  return { ...ids, chunk_id };
}

async function doomed(operation: Operation): Promise<Record<string, string>> {
  if (!needsKey(operation)) return managed(await callerOf(operation, 0), "doomed");
  await api.post("/prompts", { prompt_name: "doomed", prompt_content: "x" });
  const label = await labelled("doomed");
  const { id } = (await api.post("/tools", newTool(`doomed_${Bun.randomUUIDv7().replaceAll("-", "")}`))).body;
  const knowledge = await knowledgeOf(api, "doomed");
  const agent_id = await createAgent(api, model);
  const { test_id } = (await api.post(`/agents/${agent_id}/tests`, newTest("doomed"))).body;
  return { prompt_name: "doomed", label, agent_id, test_id, tool_id: id, ...knowledge };
}

/** Parameters without which a query is refused. */
const QUERY: Readonly<Record<string, string>> = { provider: "OPENAI", from: "1", to: "latest" };

function withRequiredQuery(operation: Operation, values: Record<string, string>): string {
  const required = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const query = new URLSearchParams(Object.fromEntries(required.map(({ name }) => [name, QUERY[name] ?? ""])));
  return `${pathTo(operation, values)}?${query}`;
}

function requestOf(operation: Operation) {
  const text = fc.oneof(fc.constant("none"), fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }));
  const hostileText = HOSTILE.filter((value) => typeof value === "string" && value !== "" && value.length < 5_000);
  const inPath = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const inQuery = operation.parameters.filter((parameter) => parameter.in === "query");
  const query = Object.fromEntries(inQuery.map(({ name, schema }) => [name, arbitraryOf(schema, schemas)]));
  const bodySchema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  return (
    fc
      .record({
        values: fc.record(
          Object.fromEntries(inPath.map((name) => [name, fc.oneof(text, hostileText, existing(name))])),
        ),
        query: fc.record(query, { requiredKeys: [] }),
        body: bodySchema ? arbitraryOf(bodySchema, schemas).chain(withExisting) : fc.constant(undefined),
        headers: fc.record(
          // From many addresses, because too many wrong passwords from one would be refused.
          { "idempotency-key": fc.stringMatching(/^[ -~]{0,40}$/), "x-forwarded-for": fc.ipV4() },
          { requiredKeys: ["x-forwarded-for"] },
        ),
      })
      .map(({ values, query, body, headers }) => {
        const search = Object.entries(query)
          .filter(([, value]) => value !== undefined && String(JSON.stringify(value)).length < 5_000)
          .map(([name, value]) => `${name}=${encoded(typeof value === "string" ? value : JSON.stringify(value))}`)
          .join("&");
        const named = (name: string) => encoded(String((values as Record<string, unknown>)[name]));
        const path = `/${operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => named(name))}`;
        return { path: search === "" ? path : `${path}?${search}`, body, headers };
      })
      // The HTTP server refuses a longer request line before any route sees it.
      .filter(({ path }) => path.length < 12_000)
  );
}

const existing = (name: string) => fc.constant(name).map(() => fuzzed[name] ?? "none");

/** Half of the bodies name an agent that exists; otherwise most would be refused for the agent alone. */
function withExisting(body: unknown) {
  const named = typeof body === "object" && body !== null && "agent_id" in body;
  return named
    ? fc.oneof(
        fc.constant(body),
        existing("agent_id").map((id) => ({ ...body, agent_id: id })),
      )
    : fc.constant(body);
}

/** As a hostile client sends it: a lone surrogate, which the platform refuses to encode, as its three bytes. */
function encoded(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : "%ED%A0%80"))
    .join("");
}

/** The router itself answers any path with 404 or 405: `.` and `..` in a path lead elsewhere. */
function expectDecided(operation: Operation, answer: Answer): void {
  const documented = [...Object.keys(operation.responses).map(Number), 404, 405];
  expect(documented).toContain(answer.status);
  expect([500, 503, 504]).not.toContain(answer.status);
  if (answer.status >= 400) expect(answer.body).toMatchObject({ detail: expect.any(String) });
  expectKnownHeaders(operation, answer);
}

/** Headers for browsers and proxies. */
const FOR_OTHERS: readonly string[] = ["x-content-type-options", "x-accel-buffering"];

/** Headers of our own in an answer are in the document. */
function expectKnownHeaders({ responses }: Operation, { status, headers }: Answer): void {
  const known = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase());
  const isOwn = (name: string) =>
    (name.startsWith("x-") && !FOR_OTHERS.includes(name)) || ["retry-after", "idempotent-replayed"].includes(name);
  if (responses[status]) expect(known).toEqual(expect.arrayContaining([...headers.keys()].filter(isOwn)));
}

const violations = violationsBy(document.components.schemas);

function expectDocumented(operation: Operation, answer: Answer): void {
  const response = operation.responses[String(answer.status)];
  const type = answer.headers.get("content-type")?.split(";")[0];
  expect(Object.keys(response?.content ?? {})).toContain(type ?? "none");
  const schema = response?.content?.["application/json"]?.schema;
  if (schema?.$ref) expect(violations(schema, answer.body)).toEqual([]);
  expectKnownHeaders(operation, answer);
  for (const header of Object.keys(response?.headers ?? {})) {
    if (header !== "Idempotent-Replayed")
      expect([header, answer.headers.get(header)]).toEqual([header, expect.any(String)]);
  }
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
}
