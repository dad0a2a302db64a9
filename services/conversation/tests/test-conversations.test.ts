import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { LlmConfig, StartFailure } from "@parley/proto/parley/agent/v1/agent.ts";
import { type CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ParameterPlace, Tool, ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import {
  ConversationStatus,
  ConversationType,
  EndedBy,
  Outcome,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  AskForJsonRequest,
  CompleteConversationRequest,
  GetConversationRequest,
  RunCallToolRequest,
  StartChatRequest,
  StartConversationRequest,
  TestSetup,
  type ToolMock,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { Script } from "@parley/testkit/scripted-model";
import { speakTurn } from "./converse-kit.ts";
import { eventOf, eventsOf, want } from "./events-kit.ts";
import { createAgent, failure, inline, llmOf, say, startTestChat, type TestAgent } from "./kit.ts";
import { watch } from "./live-kit.ts";

/** Counts what leaves a conversation. */
let requests: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    requests.push(new URL(request.url).pathname);
    return Response.json({ status: "lost" });
  },
});
const service = await startTestChat();
afterAll(async () => {
  await service.stop();
  await server.stop(true);
});
beforeEach(() => {
  requests = [];
  service.model.script = (call) => call.finish("Hello there.");
});

/** The model gives these answers, then plain ones. */
function script(...answers: Script[]): void {
  const waiting = [...answers];
  service.model.script = (call) => (waiting.shift() ?? ((rest) => rest.finish("Hello there.")))(call);
}
const calls =
  (name: string, input: object = {}): Script =>
  (call) =>
    call.callTool(name, JSON.stringify(input));

/** An agent with tools of its library. */
async function agentWith(tools: object[], given: Partial<CreateAgentRequest> = {}) {
  const ownerId = newOwner();
  const customTools: { toolId: string }[] = [];
  for (const fields of tools) {
    const { tool } = await service.agents.createTool({
      ownerId,
      tool: Tool.fromPartial(fields),
      idempotency: undefined,
    });
    customTools.push({ toolId: tool?.toolId ?? "" });
  }
  return createAgent(service, { customTools, ...given }, ownerId);
}

const ofModel = (name: string) => ({
  name,
  in: ParameterPlace.PARAMETER_PLACE_QUERY,
  required: true,
  source: { $case: "schema" as const, value: { type: "string" } },
});
const findOrder = {
  name: "find_order",
  description: "Finds an order.",
  kind: {
    $case: "http" as const,
    value: {
      method: ToolMethod.TOOL_METHOD_GET,
      url: `http://127.0.0.1:${server.port}/orders`,
      parameters: [ofModel("id")],
      result: { keep: ["/status"] },
      assignments: [{ variable: "order_status", pointer: "/status" }],
    },
  },
};
const showMap = { name: "show_map", description: "Shows a map.", kind: { $case: "client" as const, value: {} } };

const result = (value: string) => ({ $case: "result" as const, value });
const setup = (toolMocks: Partial<ToolMock>[] = [], given: Partial<TestSetup> = {}) =>
  TestSetup.fromPartial({ runId: "run_1", ...given, toolMocks } as object);

async function startTest(agent: TestAgent, test: TestSetup): Promise<string> {
  return (await service.chat.startChat(StartChatRequest.fromPartial({ ...agent, test } as object))).sessionId;
}

async function shown({ ownerId }: TestAgent, conversationId: string) {
  const request = { ownerId, conversationId, withToolCalls: true, withUsage: true };
  const { conversation } = await service.chat.getConversation(GetConversationRequest.fromPartial(request));
  if (!conversation) throw new Error("the response is empty");
  return conversation;
}

async function madeCalls(agent: TestAgent, conversationId: string) {
  const { transcript } = await shown(agent, conversationId);
  return (transcript?.messages ?? []).flatMap(({ toolCalls }) =>
    toolCalls.map(({ name, result, isError, mocked = false }) => ({ name, result, isError, mocked })),
  );
}

describe("a conversation of a test", () => {
  test("that is a chat has the ID that whoever begins it has chosen", async () => {
    const agent = await createAgent(service);
    const sessionId = newUuid();
    const request = StartChatRequest.fromPartial({ ...agent, sessionId, test: setup() } as object);
    expect((await service.chat.startChat(request)).sessionId).toBe(sessionId);
    expect((await shown(agent, sessionId)).conversationId).toBe(sessionId);
  });

  test("is stored and marked, and neither counted, told nor watched, in a chat as in a call", async () => {
    const agent = await createAgent(service);
    const { ownerId } = agent;
    await want(service, ownerId, "conversation.started");
    const watcher = watch(service.chat, agent, undefined);
    await eventually(() => expect(watcher.told).toHaveLength(1));
    const sessionId = await startTest(agent, setup());
    await say(service, agent, "Hi", sessionId);
    await end(agent, sessionId);
    const conversationId = newUuid();
    const type = ConversationType.CONVERSATION_TYPE_WEB;
    const start = { ...agent, conversationId, type, test: setup() };
    await service.chat.startConversation(StartConversationRequest.fromPartial(start as object));
    await service.chat.startConversation(StartConversationRequest.fromPartial(start as object));
    await end(agent, conversationId);
    const { sessionId: real } = await say(service, agent);
    for (const id of [sessionId, conversationId])
      expect(await shown(agent, id)).toMatchObject({ isTestCall: true, test: { runId: "run_1" } });
    expect((await shown(agent, real)).test).toBeUndefined();
    await eventOf(service, real);
    for (const id of [sessionId, conversationId]) expect(eventsOf(service.dispatcher, id)).toBeEmpty();
    const [from, to] = [new Date("2026-01-01"), new Date("2026-01-02")];
    expect((await service.chat.countUsage({ ownerId, from, to })).days).toMatchObject([
      { conversations: 1, replies: 1 },
    ]);
    await eventually(() => expect(watcher.short()).toEqual([`started ${real}`]));
    await watcher.leave();
  });

  test("begins with the variables of the test and asks no start webhook", async () => {
    const startWebhook = {
      ...{ url: `http://127.0.0.1:${server.port}/start`, headers: [], secret: newSigningSecret(), timeoutMs: 500 },
      ...{ onFailure: StartFailure.START_FAILURE_REJECT, channels: [] },
    };
    const texts = { prompt: inline("You serve {{name}}."), firstMessagePrompt: "Hello {{name}}!" };
    const agent = await createAgent(service, { ...texts, startWebhook });
    const test = setup([], { dynamicVariables: { name: "Ada" } });
    const request = StartChatRequest.fromPartial({ ...agent, test } as object);
    const { sessionId, firstMessage } = await service.chat.startChat(request);
    expect(firstMessage).toBe("Hello Ada!");
    await say(service, agent, "Hi", sessionId);
    expect(service.model.calls.at(-1)?.asked.system).toBe("You serve Ada.");
    expect(requests).toEqual([]);
    const conversationId = newUuid();
    const call = { ...agent, conversationId, type: ConversationType.CONVERSATION_TYPE_WEB, test };
    const { conversation } = await service.chat.startConversation(StartConversationRequest.fromPartial(call as object));
    expect(conversation?.dynamicVariables).toEqual({ name: "Ada" });
    expect(requests).toEqual([]);
  });

  test("that is a chat ends when its runner says so, and shows who ended it; other chats do not", async () => {
    const agent = await createAgent(service, { tools: { end_call: true, set_language: true } });
    const [byUser, byAgent] = [await startTest(agent, setup()), await startTest(agent, setup())];
    await end(agent, byUser, EndedBy.ENDED_BY_USER);
    script(calls("set_language", { language: "es" }), calls("end_call", { message: "Adiós" }));
    await say(service, agent, "Adiós", byAgent);
    const status = ConversationStatus.CONVERSATION_STATUS_COMPLETED;
    expect(await shown(agent, byUser)).toMatchObject({ status, endedBy: EndedBy.ENDED_BY_USER });
    expect(await shown(agent, byAgent)).toMatchObject({ status, endedBy: EndedBy.ENDED_BY_AGENT, language: "es" });
    const { sessionId: real } = await say(service, agent);
    expect(await failure(end(agent, real))).toMatchObject({ kind: "condition" });
  });

  test("is analyzed only when it is asked for, and as its version says, though a later one has no analysis", async () => {
    const prompt = inline("Judge.");
    const agent = await createAgent(service, {
      analysis: { enabled: true, prompt, schema: { mood: { type: "str" } } },
    });
    const sessionId = await startTest(agent, setup());
    await service.agents.updateAgent(
      UpdateAgentRequest.fromPartial({ ...agent, analysis: { enabled: false, prompt } }),
    );
    await say(service, agent, "Hi", sessionId);
    await end(agent, sessionId);
    service.model.script = (call) => call.finish('{"mood": "calm"}');
    const key = { ownerId: agent.ownerId, conversationId: sessionId, idempotency: undefined };
    await service.chat.analyzeConversation(key);
    await eventually(async () =>
      expect((await shown(agent, sessionId)).analysis?.items).toMatchObject([{ name: "mood", value: "calm" }]),
    );
  });

  test.each<[string, TestSetup]>([
    ["without a run", setup([], { runId: "" })],
    ["with a mock of no tool", setup([{ outcome: result("") }])],
    ["with a mock without an outcome", setup([{ tool: "find_order" }])],
    ["with a mock that takes too long", setup([{ tool: "find_order", delayMs: 120_001, outcome: result("") }])],
    ["with more than a mebibyte of mocks", setup([{ tool: "find_order", outcome: result("r".repeat(1024 * 1024)) }])],
  ])("does not begin %s", async (_, test) => {
    expect(await failure(startTest(await createAgent(service), test))).toMatchObject({ kind: "invalid" });
  });
});

function end({ ownerId }: TestAgent, conversationId: string, endedBy?: EndedBy) {
  const request = { ownerId, conversationId, outcome: Outcome.OUTCOME_SUCCESS, endedBy };
  return service.chat.completeConversation(CompleteConversationRequest.fromPartial(request));
}

describe("the tools of a test", () => {
  test("are answered by the first mock whose arguments the call has, as their server and client would", async () => {
    const agent = await agentWith([findOrder, showMap], { prompt: inline("The order is {{order_status | unknown}}.") });
    const sessionId = await startTest(
      agent,
      setup([
        { tool: "find_order", when: { id: "8" }, outcome: { $case: "error", value: "No such order" } },
        { tool: "find_order", when: {}, outcome: result('{"status":"shipped","secret":1}') },
        { tool: "find_order", outcome: result('{"status":"never"}') },
        { tool: "show_map", delayMs: 1, outcome: result("shown") },
      ]),
    );
    script(calls("find_order", { id: "8" }), calls("find_order", { id: "7" }), calls("find_order"), calls("show_map"));
    await say(service, agent, "Where is it?", sessionId);
    expect(await madeCalls(agent, sessionId)).toEqual([
      { name: "find_order", result: "No such order", isError: true, mocked: true },
      { name: "find_order", result: '{"status":"shipped"}', isError: false, mocked: true },
      { name: "find_order", result: expect.stringContaining("arguments are wrong"), isError: true, mocked: false },
      { name: "show_map", result: "shown", isError: false, mocked: true },
    ]);
    await say(service, agent, "Thanks", sessionId);
    expect(service.model.calls.at(-1)?.asked.system).toBe("The order is shipped.");
    expect(requests).toEqual([]);
  });

  test("that have no mock are an error for the model, or are called if the test wants it", async () => {
    const agent = await agentWith([findOrder], { tools: { set_language: true } });
    const [closed, open] = [await startTest(agent, setup()), await startTest(agent, setup([], { unmockedReal: true }))];
    const asked = [calls("find_order", { id: "7" }), calls("set_language", { language: "es" })];
    script(...asked);
    await say(service, agent, "Where is it?", closed);
    expect(await madeCalls(agent, closed)).toMatchObject([
      {
        result: "This is a test, and it has no result for this call. Nothing was called.",
        isError: true,
        mocked: false,
      },
      { name: "set_language", isError: false, mocked: false },
    ]);
    expect(requests).toEqual([]);
    script(...asked);
    await say(service, agent, "Where is it?", open);
    expect(await madeCalls(agent, open)).toMatchObject([{ result: '{"status":"lost"}', mocked: false }, {}]);
    expect(requests).toEqual(["/orders"]);
  });

  test("give recorded results in order, each once, over all turns of the conversation", async () => {
    const agent = await agentWith([findOrder]);
    const recorded = (text: string) => ({ tool: "find_order", once: true, recorded: true, outcome: result(text) });
    const sessionId = await startTest(agent, setup([recorded("packed"), recorded("shipped")]));
    for (let turns = 0; turns < 3; turns++) {
      script(calls("find_order", { id: "7" }));
      await say(service, agent, "Where is it?", sessionId);
    }
    expect(await madeCalls(agent, sessionId)).toMatchObject([
      { result: "packed", isError: false, mocked: true },
      { result: "shipped", isError: false, mocked: true },
      { isError: true, mocked: false },
    ]);
  });

  test("give what a model was told before as it was, as often as it is asked for, though the tool's filter keeps an item by its place", async () => {
    const { kind } = findOrder;
    const second = { ...findOrder, kind: { ...kind, value: { ...kind.value, result: { keep: ["/orders/1"] } } } };
    const agent = await agentWith([second]);
    const told = '{"orders":["A-2"]}';
    const sessionId = await startTest(agent, setup([{ tool: "find_order", recorded: true, outcome: result(told) }]));
    script(calls("find_order", { id: "7" }), calls("find_order", { id: "8" }));
    await say(service, agent, "Where is it?", sessionId);
    expect(await madeCalls(agent, sessionId)).toMatchObject([{ result: told }, { result: told }]);
  });

  test("dial nobody in a call: a transfer is told as done and ends it, and keys are not pressed", async () => {
    const agent = await createAgent(service, {
      tools: { transfer_call: { transfer_phone_number: "+14155550199" }, send_dtmf: true, set_language: true },
    });
    const conversationId = newUuid();
    const test = setup([{ tool: "set_language", outcome: result("mocked") }]);
    const start = { ...agent, conversationId, type: ConversationType.CONVERSATION_TYPE_WEB, test };
    await service.chat.startConversation(StartConversationRequest.fromPartial(start as object));
    const key = { ownerId: agent.ownerId, conversationId };
    script(calls("set_language", { language: "es" }), calls("send_dtmf", { keys: "12" }), calls("transfer_call"));
    const spoken = speakTurn(service.chat, key, 1);
    expect(await spoken.next()).toMatchObject({ $case: "toolStarted" });
    expect(await spoken.next()).toMatchObject({ $case: "toolEnded" });
    const { event } = await spoken.reply();
    expect(event).toMatchObject({ $case: "action", value: { action: { $case: "endCall" } } });
    spoken.heard("Goodbye!");
    await spoken.stored();
    expect(await madeCalls(agent, conversationId)).toMatchObject([
      { name: "set_language", result: "mocked", mocked: true },
      { name: "send_dtmf", result: "The keys 12 are pressed.", isError: false },
      { name: "transfer_call", result: "The user is connected after this reply.", isError: false },
    ]);
    const transfer = { $case: "transfer" as const, value: "+14155550123" };
    expect(await failure(service.chat.controlConversation({ ...key, action: transfer }))).toMatchObject({
      kind: "condition",
      detail: "This call is a test, which dials nobody",
    });
    const ask = { ...key, name: "set_language", arguments: { language: "fr" } };
    expect(await service.chat.runCallTool(RunCallToolRequest.fromPartial(ask))).toMatchObject({
      result: "mocked",
      isError: false,
      action: undefined,
    });
  });
});

describe("asking a model for JSON", () => {
  const schema = {
    type: "object",
    properties: { verdict: { type: "string", enum: ["yes", "no"] } },
    required: ["verdict"],
    additionalProperties: false,
  };
  const ask = (agent: TestAgent, given: Partial<AskForJsonRequest> = {}) => {
    const question = { ...agent, agentVersion: 1, system: "You judge.", message: "user: Hi", schema };
    return service.chat.askForJson(AskForJsonRequest.fromPartial({ ...question, ...given } as object));
  };

  test("asks the agent's own model at temperature 0 and answers an object that fits the schema", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish('```json\n{"verdict":"yes"}\n```');
    expect(await ask(agent)).toEqual({ json: '{"verdict":"yes"}', costUsd: undefined });
    const { body, asked } = service.model.calls.at(-1) ?? {};
    expect(body).toMatchObject({ temperature: 0, response_format: { json_schema: { schema } } });
    expect(asked?.system).toStartWith("You judge.");
  });

  test("asks the given model instead, as it is configured, and tells what that cost", async () => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish('{"verdict":"no"}');
    const llm = LlmConfig.fromPartial({ ...llmOf(service.model), modelName: "judge", price: { input: 2, output: 10 } });
    expect(await ask(agent, { llm })).toEqual({ json: '{"verdict":"no"}', costUsd: 0.000092 });
    expect(service.model.calls.at(-1)?.body).toMatchObject({ model: "judge", temperature: 0.5 });
  });

  test.each([
    ["is no JSON", "I cannot say."],
    ["does not fit the schema", '{"verdict":"perhaps"}'],
  ])("fails when the model's answer %s", async (_, text) => {
    const agent = await createAgent(service);
    service.model.script = (call) => call.finish(text);
    expect(await failure(ask(agent))).toMatchObject({
      kind: "upstream_failed",
      detail: "The CUSTOM_LLM model's answer does not fit the schema",
    });
  });

  test("refuses a question that is empty or too long, and never asks a private address", async () => {
    const agent = await createAgent(service);
    expect(await failure(ask(agent, { system: "" }))).toMatchObject({ kind: "invalid" });
    expect(await failure(ask(agent, { message: "m".repeat(1_000_001) }))).toMatchObject({ kind: "invalid" });
    expect(await failure(ask(agent, { schema: { title: "t".repeat(16 * 1024) } }))).toMatchObject({ kind: "invalid" });
    const llm = LlmConfig.fromPartial({
      providerName: "CUSTOM_LLM",
      modelName: "m",
      params: { baseUrl: "http://10.0.0.1/v1" },
    });
    expect(await failure(ask(agent, { llm }))).toMatchObject({ kind: "upstream_failed" });
  });
});
