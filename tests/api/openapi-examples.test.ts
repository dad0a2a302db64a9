import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { CallingType, ConversationType, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CompleteConversationRequest,
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import { eventually } from "@parley/testkit/eventually";
import { type Answer, answerOf } from "../kit/api.ts";
import { violationsBy } from "../kit/document-schemas.ts";
import { type OpenCallers, openCallers } from "../kit/open-callers.ts";
import { placeRecording } from "../kit/recordings.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { startTestStack, type TestStack } from "../kit/stack/test-stack.ts";
import { createKey, createSession } from "../kit/test-owner.ts";
import { addTrunkNumber } from "../kit/trunk.ts";
import { connectWhatsApp } from "../kit/whatsapp.ts";

/** The status of what needs a phone number of the operator's, which the shared stack does not have. */
const REFUSED: Readonly<Record<string, number>> = {
  callWithCode: 400,
  proveMobileNumber: 422,
  // No server has the examples' addresses, and the story's tool is an HTTP tool.
  "createTool mcp": 422,
  "importTools url": 422,
  acceptToolChanges: 400,
  // The story's conversation is a chat, to which nobody listens.
  listenToConversation: 400,
  connectListener: 401,
  endListener: 401,
  // The story's document is a text.
  refreshDocument: 400,
};

interface Media {
  schema: { $ref?: string };
  example?: unknown;
  examples?: Record<string, { value: object }>;
}

interface Operation {
  method: string;
  path: string;
  operationId: string;
  security?: object[];
  parameters: { name: string; in: string; required: boolean; example?: string }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

// The scripted model answers for the OpenAI models that the examples name.
const model: ScriptedModel = await startScriptedModel();
const stack: TestStack = await startTestStack({
  env: {
    OPENAI_API_KEY: "sk-ours",
    OPENAI_BASE_URL: model.baseUrl,
    DEEPGRAM_API_KEY: "dg-ours",
    PARLEY_WEBHOOK_RETRY_MS: "1",
  },
});
const document = (await stack.api("").get("//openapi.json")).body;
const operations: Operation[] = Object.entries<Record<string, Omit<Operation, "method" | "path">>>(
  document.paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, rest]) => ({ method: method.toUpperCase(), path, ...rest })),
);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

const violations = violationsBy(document.components.schemas);

function examplesOf({ example, examples }: Media): [string, unknown][] {
  return examples ? Object.entries(examples).map(([name, { value }]) => [name, value]) : [["example", example]];
}

describe.each(operations.map((operation) => [operation.operationId, operation] as const))("%s", (_, operation) => {
  test("has examples that fit their schemas", () => {
    const media = [operation, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(("requestBody" in part ? part.requestBody?.content : "content" in part && part.content) || {}),
    );
    for (const each of media) {
      for (const [name, value] of examplesOf(each)) expect([name, violations(each.schema, value)]).toEqual([name, []]);
    }
  });
});

/**
 * The examples tell one story: an ID in the answer of one operation is a parameter of the next. `ids` maps the examples' IDs to those
 * of this stack.
 */
describe("a reader who sends the examples in order", () => {
  const ids = new Map<string, string>();
  const credentials: Record<string, string> = {};
  const { password } = exampleOf("signIn") as { password: string };
  let ownerId = "";
  let callers: OpenCallers;
  beforeAll(async () => {
    const { email } = exampleOf("signIn") as { email: string };
    const { owner } = await stack.accounts.createOwner({ name: "Acme", email, tier: Tier.TIER_PRO });
    ownerId = owner?.ownerId ?? "";
    callers = await openCallers(stack, stack.manage(await createSession(stack, ownerId)));
    await stack.accounts.setPassword({ ownerId, password });
    await addTrunkNumber(stack.accounts, ownerId, "+14155550100");
    credentials["x-api-key"] = (await createKey(stack.accounts, ownerId)).apiKey;
  });

  for (const operation of inOrder(operations)) {
    const [sent = { schema: {} }] = Object.values(operation.requestBody?.content ?? {});
    for (const [name, body] of examplesOf(sent)) {
      test(`${operation.operationId}: the ${name} is accepted, and answered as documented`, async () => {
        if (operation.operationId.startsWith("resend")) await deliveryEnded();
        if (operation.operationId === "analyzeConversation") await endChat(operation);
        if (operation.operationId === "getChunk") await documentIsRead();
        if (operation.operationId === "endSession") await beginAnotherSession();
        if (operation.operationId === "getRecording") await record(operation);
        if (operation.operationId === "sendWhatsAppMessage") {
          const { agent_id } = body as { agent_id: string };
          callers.whatsApp = await connectWhatsApp(stack, ownerId, "+14155550111", actual(agent_id));
          // Connecting a carrier needs a session, so the owner gets the tests' password.
          await stack.accounts.setPassword({ ownerId, password });
          await beginAnotherSession();
        }
        const answer = await send(operation, body);
        expect([answer.body, Object.keys(operation.responses)]).toEqual([
          expect.anything(),
          expect.arrayContaining([String(answer.status)]),
        ]);
        const refused = REFUSED[operation.operationId] ?? REFUSED[`${operation.operationId} ${name}`];
        if (refused) expect(answer.status).toBe(refused);
        else expect(answer.status).toBeWithin(200, 300);
        const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
        const documented = operation.responses[answer.status]?.content;
        const media = documented?.[type];
        if (documented)
          expect([type, media ? violations(media.schema, answer.body) : "is not documented"]).toEqual([type, []]);
        rememberIds(media?.example, answer.body);
        callers.remember(operation.operationId, answer.body);
        const cookie = answer.headers.get("set-cookie")?.split(";")[0];
        if (cookie) credentials.cookie = cookie;
      });
    }
  }

  function exampleOf(id: string): unknown {
    return operations.find(({ operationId }) => operationId === id)?.requestBody?.content["application/json"]?.example;
  }

  async function send(operation: Operation, body: unknown): Promise<Answer> {
    const { operationId, method, path, parameters, requestBody } = operation;
    const required = parameters.filter((parameter) => parameter.required);
    const own = callers.ids(operationId);
    const value = (name: string) =>
      encodeURIComponent(own[name] ?? actual(required.find((each) => each.name === name)?.example ?? ""));
    const query = required.flatMap(({ name, in: where }) => (where === "query" ? [`${name}=${value(name)}`] : []));
    if (operationId === "verifyWhatsAppWebhook") query.push(`hub.verify_token=${callers.whatsApp?.verifyToken}`);
    const url = `${stack.url}${path.replaceAll(/\{(\w+)\}/g, (_, name) => value(name))}`;
    const [type = ""] = Object.keys(requestBody?.content ?? {});
    const text = body === undefined ? "" : encodedAs(type, body);
    return answerOf(
      await fetch(`${url}${query.length > 0 ? `?${query.join("&")}` : ""}`, {
        method,
        headers: {
          ...credentials,
          ...(body !== undefined && { "content-type": type }),
          ...callers.proof(operationId, url, text),
        },
        ...(body !== undefined && { body: text }),
      }),
    );
  }

  function encodedAs(type: string, body: unknown): string {
    if (type === "application/json") return actual(JSON.stringify(body));
    return type === "application/x-www-form-urlencoded"
      ? new URLSearchParams(body as Record<string, string>).toString()
      : String(body);
  }

  /** An example's text with the IDs of this stack. */
  function actual(text: string): string {
    return text.replaceAll(ID, (id) => ids.get(id) ?? id);
  }

  /** The first ID that an answer has in the place of an example's stands for it from then on. */
  function rememberIds(example: unknown, value: unknown): void {
    if (typeof example === "string" && typeof value === "string") {
      if (example.match(ID)?.[0] === example && !ids.has(example)) ids.set(example, value);
      return;
    }
    if (typeof example !== "object" || example === null || typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(example)) rememberIds(inner, (value as Record<string, unknown>)[key]);
  }

  /** Makes the model end the chat that the operation is about. */
  async function endChat({ parameters }: Operation): Promise<void> {
    const chat = operations.find(({ operationId }) => operationId === "sendMessage") as Operation;
    const [[, turn] = []] = examplesOf(chat.requestBody?.content["application/json"] ?? { schema: {} });
    const sessionId = parameters.find(({ name }) => name === "conversation_id")?.example;
    model.next((exchange) => {
      exchange.toolCall("end_call", {});
      exchange.finish();
    });
    const answer = await send(chat, { ...(turn as object), session_id: sessionId, streaming: false });
    expect(answer.status).toBe(200);
  }

  /** Signs in again, when the reader's session has ended or the one in the list is not the reader's own. */
  async function beginAnotherSession(): Promise<void> {
    const signIn = operations.find(({ operationId }) => operationId === "signIn") as Operation;
    const answer = await send(signIn, exampleOf("signIn"));
    credentials.cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  }

  async function record({ parameters }: Operation): Promise<void> {
    const example = parameters.find(({ name }) => name === "conversation_id")?.example ?? "";
    await placeRecording(stack, { ownerId, conversationId: actual(example) });
  }

  /** Waits until a search finds the story's document, and remembers the chunk. */
  async function documentIsRead(): Promise<void> {
    const search = operations.find(({ operationId }) => operationId === "searchKnowledgeBase") as Operation;
    const found = await eventually(async () => {
      const { body } = await send(search, exampleOf("searchKnowledgeBase"));
      expect(body.chunks).toHaveLength(1);
      return body;
    });
    rememberIds(search.responses["200"]?.content?.["application/json"]?.example, found);
  }

  async function deliveryEnded(): Promise<void> {
    const get = operations.find(({ operationId }) => operationId === "getDelivery") as Operation;
    await eventually(async () => expect((await send(get, undefined)).body.status).toBe("failed"));
  }
});

const ID = /[a-z]{2,4}_[0-9a-z]{26}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/**
 * The document's order, except that objects are created first, those that others name before them, and deleted last, and sessions end
 * at the very end.
 */
function inOrder(all: readonly Operation[]): Operation[] {
  const first = ["signIn", "createSecret", "createTool", "createKnowledgeBase"];
  const last = ["changePassword", "signOut"];
  const rank = ({ method, path, operationId }: Operation) => {
    if (first.includes(operationId)) return first.indexOf(operationId) - first.length;
    if (last.includes(operationId)) return 3 + last.indexOf(operationId);
    // A prompt's label before the prompt.
    if (method === "DELETE") return 2 - path.split("/").length / 100;
    return method === "POST" && !path.includes("{") ? 0 : 1;
  };
  return all.toSorted((one, other) => rank(one) - rank(other));
}

describe("a webhook", () => {
  const OUTCOMES = {
    "conversation.completed": Outcome.OUTCOME_SUCCESS,
    "conversation.disconnected": Outcome.OUTCOME_NO_ANSWER,
    "conversation.failed": Outcome.OUTCOME_ERROR,
  } as const;
  const webhooks: Record<string, { post: { requestBody: { content: { "multipart/form-data": Media } } } }> =
    document.webhooks;
  /** The others are no events of destinations. */
  const events = Object.keys(webhooks).filter(
    (name) => webhooks[name]?.post.requestBody.content["multipart/form-data"],
  );
  const mediaOf = (event: string) => webhooks[event]?.post.requestBody.content["multipart/form-data"] ?? { schema: {} };
  /** The schema of an event's payload. */
  const schemaOf = (event: string): { $ref: string } =>
    (mediaOf(event).schema as { properties: { payload: { contentSchema: { $ref: string } } } }).properties.payload
      .contentSchema;
  const propertiesOf = (event: string) =>
    Object.keys(document.components.schemas[schemaOf(event).$ref.split("/").at(-1) ?? ""].properties);

  test.each(events)("%s has an example that fits its schema", (event) => {
    const media = mediaOf(event);
    const form = media.example as { event: string; payload: string };
    expect(violations(media.schema, form)).toEqual([]);
    expect(violations(schemaOf(event), JSON.parse(form.payload))).toEqual([]);
  });

  test("is delivered as the document says, a sample too", async () => {
    const received = new Map<string, { form: Awaited<ReturnType<Request["formData"]>>; headers: Headers }>();
    const receiver = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const form = await request.formData();
        const event = String(form.get("event"));
        const { is_test_call: isSample = !(event in OUTCOMES) } = JSON.parse(String(form.get("payload")));
        received.set(`${event}${isSample ? " sample" : ""}`, { form, headers: request.headers });
        return new Response();
      },
    });
    try {
      const [{ ownerId, apiKey }] = stack.owners;
      const { body: agent } = await stack.api(apiKey).post("/agents", { agent_name: "A", agent_type: "INBOUND" });
      const { token } = await signIn(ownerId);
      const manage = stack.manage(token);
      const url = receiver.url.href;
      const { body: destination } = await manage.post("/destinations", { name: "Test", url, request_type: "POST" });
      for (const event of events) await manage.post(`/destinations/${destination.destination_id}/test`, { event });
      await endCalls(ownerId, agent.id);
      await eventually(() => expect(received.size).toBe(events.length + 3));
      for (const [name, { form, headers }] of received) {
        const event = name.split(" ")[0] ?? "";
        const fields = Object.fromEntries(form.entries());
        const payload = JSON.parse(String(form.get("payload")));
        const wrong = [violations(mediaOf(event).schema, fields), violations(schemaOf(event), payload)];
        expect([name, ...wrong]).toEqual([name, [], []]);
        // The payload has no undocumented fields either.
        expect(propertiesOf(event)).toEqual(expect.arrayContaining(Object.keys(payload)));
        for (const header of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
          expect(headers.get(header)).toBeString();
        }
      }
    } finally {
      await receiver.stop(true);
    }
  });

  async function signIn(ownerId: string) {
    const password = "the pass phrase of tests";
    await stack.accounts.setPassword({ ownerId, password });
    const { owner } = await stack.accounts.getOwner({ ownerId });
    return stack.accounts.signIn({ email: owner?.email ?? "", password });
  }

  async function endCalls(ownerId: string, agentId: string): Promise<void> {
    const conversations = createClient(ConversationServiceService, {
      peer: "conversation",
      address: stack.address("conversation"),
    });
    try {
      for (const outcome of Object.values(OUTCOMES)) {
        const key = { ownerId, conversationId: newUuid() };
        const call = { ...key, agentId, toMobileNumber: "+14155550123", telephonyProvider: "TWILIO" };
        await conversations.startConversation(
          StartConversationRequest.fromPartial({
            ...call,
            type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
            callingType: CallingType.CALLING_TYPE_OUTBOUND,
          }),
        );
        await conversations.completeConversation(
          CompleteConversationRequest.fromPartial({ ...key, outcome, durationSeconds: 1.5 }),
        );
      }
    } finally {
      conversations.close();
    }
  }
});
