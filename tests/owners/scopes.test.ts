import { afterAll, describe, expect, test } from "bun:test";
import type { Api } from "../kit/api.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createKey, createSession } from "../kit/test-owner.ts";

interface Operation {
  operationId: string;
  method: string;
  path: string;
  /** Absent: an API key. */
  security?: Record<string, string[]>[];
  hasBody: boolean;
}

const stack: RunningStack = await sharedStack();
const document = (await stack.api("").get("//openapi.json")).body;
const operations: Operation[] = Object.entries<Record<string, Omit<Operation, "hasBody"> & { requestBody?: object }>>(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, security, requestBody }]) => ({
    operationId,
    method: method.toUpperCase(),
    path: path.replaceAll(/\{\w+\}/g, "a"),
    ...(security && { security }),
    hasBody: requestBody !== undefined,
  })),
);
const ofKeys = operations.filter(({ security }) => security === undefined);
const ofSessions = operations.filter(({ security }) => security?.some((scheme) => "Session" in scheme));
afterAll(() => stack.stop());

/** The scope that each operation needs. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  "agents:read": [
    ...["listAgents", "getAgent", "listDynamicVariables"],
    ...["listAgentVersions", "getAgentVersion", "diffAgentVersions", "compareAgentVersions"],
    ...["listAgentPublishes", "getAgentTraffic"],
  ],
  "agents:write": [
    ...["createAgent", "updateAgent", "deleteAgent", "tryStartWebhook"],
    ...["publishAgentVersion", "setAgentTraffic"],
    ...["createTest", "createTestFromConversation", "updateTest", "deleteTest"],
  ],
  "tests:read": [
    ...["listTests", "getTest", "listTestRuns", "getTestRun", "watchTestRun"],
    ...["listReplays", "getReplay"],
  ],
  "tests:run": ["runTests", "cancelTestRun", "createReplay"],
  "prompts:read": ["listPrompts", "getPrompt", "listPromptVersions", "diffPromptVersions"],
  "prompts:write": [
    ...["createPrompt", "updatePrompt", "restorePromptVersion", "deletePrompt"],
    ...["setPromptLabel", "deletePromptLabel"],
  ],
  "tools:read": ["listTools", "getTool"],
  "tools:write": [
    "createTool",
    "updateTool",
    "deleteTool",
    "rotateToolSecret",
    "acceptToolChanges",
    "importTools",
    "tryTool",
  ],
  "knowledge:read": [
    ...["listKnowledgeBases", "getKnowledgeBase", "searchKnowledgeBase"],
    ...["listDocuments", "getDocument", "getChunk"],
  ],
  "knowledge:write": [
    ...["createKnowledgeBase", "updateKnowledgeBase", "deleteKnowledgeBase"],
    ...["createDocument", "replaceDocument", "deleteDocument", "refreshDocument"],
  ],
  "conversations:read": [
    "listConversations",
    "getConversation",
    "getRecording",
    "listDocumentReplies",
    "listChatSessions",
    "getChatSession",
    "watchConversation",
    "watchConversations",
  ],
  "conversations:control": ["controlConversation"],
  "conversations:listen": ["listenToConversation"],
  chat: ["sendMessage", "startChat", "analyzeConversation"],
  messages: ["sendWhatsAppMessage"],
  calls: [
    ...["createCall", "listCalls", "getCall", "hangUpCall", "createWebCall", "createDailySession"],
    ...["createCallBatch", "checkCallBatch", "listCallBatches", "getCallBatch"],
    ...["pauseCallBatch", "resumeCallBatch", "cancelCallBatch"],
  ],
  "catalogue:read": ["listProviders", "listVoices", "listMobileNumbers"],
};

test("every operation for keys has its scope here", () => {
  expect(Object.values(SCOPES).flat().toSorted()).toEqual(ofKeys.map(({ operationId }) => operationId).toSorted());
});

function send(api: Api, { method, path, hasBody }: Operation) {
  const body = { body: "{}", headers: { "content-type": "application/json" } };
  return api.send(method, `/${path}`, hasBody ? body : {});
}

describe.each(Object.entries(SCOPES))("the scope %s", (scope, ids) => {
  test("opens its operations and no others", async () => {
    const key = async (scopes: string[]) =>
      stack.api((await createKey(stack.accounts, stack.owners[0].ownerId, { scopes })).apiKey);
    const others = Object.keys(SCOPES).filter((other) => other !== scope);
    const [having, lacking] = [await key([scope]), await key(others)];
    for (const operation of ofKeys.filter(({ operationId }) => ids.includes(operationId))) {
      const { operationId } = operation;
      const [opened, refused] = [await send(having, operation), await send(lacking, operation)];
      expect([operationId, [200, 404, 422].includes(opened.status)]).toEqual([operationId, true]);
      const detail = `The API key lacks the scope ${scope}`;
      expect([operationId, refused.status, refused.body]).toEqual([operationId, 403, { detail }]);
    }
  });
});

test("a key that may not read conversations makes no test of one and replays none, because both show what was said", async () => {
  const scopes = Object.keys(SCOPES).filter((scope) => scope !== "conversations:read");
  const { apiKey } = await createKey(stack.accounts, stack.owners[0].ownerId, { scopes });
  const agent = "/agents/a";
  for (const [path, body] of [
    ["tests/from-conversation", { conversation_id: "a" }],
    ["replays", { agent_version: "latest", max: 1 }],
  ] as const) {
    const answer = await stack.api(apiKey).post(`${agent}/${path}`, body);
    const detail = "The API key lacks the scope conversations:read";
    expect([path, answer.status, answer.body]).toEqual([path, 403, { detail }]);
  }
});

test("no key opens an operation of the management API, and no ended session any operation", async () => {
  const { apiKey, ownerId } = stack.owners[0];
  for (const operation of ofSessions) {
    const { status, body } = await send(stack.api(apiKey), operation);
    expect([operation.operationId, status, body]).toEqual([operation.operationId, 401, { detail: "Not signed in" }]);
  }
  const ended = stack.manage(await createSession(stack, ownerId));
  await ended.send("POST", "/sign-out");
  const detail = "The session has ended. Sign in again.";
  for (const [at, operation] of [...ofSessions, ...ofKeys].entries()) {
    // From many addresses, because wrong sessions are limited by address.
    const headers = { "content-type": "application/json", "x-forwarded-for": `198.18.0.${at}` };
    const answer = await ended.send(operation.method, `/${operation.path}`, {
      headers,
      ...(operation.hasBody && { body: "{}" }),
    });
    expect([operation.operationId, answer.status, answer.body]).toEqual([operation.operationId, 401, { detail }]);
  }
});

test("no page of another site or host writes with a session, on any operation", async () => {
  const manage = stack.manage(await createSession(stack, stack.owners[1].ownerId));
  // A GET that begins a chat.
  const writes = [...ofSessions, ...ofKeys].filter(
    ({ method, operationId }) => method !== "GET" || operationId === "startChat",
  );
  const detail = "The request comes from another site's page";
  for (const { operationId, method, path, hasBody } of writes) {
    for (const site of ["cross-site", "same-site"]) {
      const headers = { "content-type": "application/json", "sec-fetch-site": site };
      const answer = await manage.send(method, `/${path}`, { headers, ...(hasBody && { body: "{}" }) });
      expect([operationId, site, answer.status, answer.body]).toEqual([operationId, site, 403, { detail }]);
    }
  }
});
