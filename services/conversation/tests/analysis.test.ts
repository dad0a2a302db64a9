import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { type CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ConversationType, Outcome, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  AppendTranscriptRequest,
  CompleteConversationRequest,
  ListConversationsRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { endChats } from "./alone-kit.ts";
import { allSentLater, endedChat, eventOf, eventsOf, pass, payloadOf, want } from "./events-kit.ts";
import { createAgent, failure, inline, say, startTestChat, type TestAgent, turn } from "./kit.ts";

const SCHEMA = { mood: { type: 'Literal["calm","angry"]' }, calls: { type: "Optional[int]" } };

const service = await startTestChat();
afterAll(() => service.stop());

afterEach(async () => {
  service.model.script = (call) => call.finish(ANSWER);
  await allSentLater(service);
});

const ANSWER = '{"mood": "calm", "calls": 2}';

/** An agent whose chats end when the model says so, and are then analyzed. */
function analyzing(schema: object | null = SCHEMA, given: Partial<CreateAgentRequest> = {}): Promise<TestAgent> {
  const prompt = inline("Judge the chat of {{customer}}.");
  return createAgent(service, {
    tools: { end_call: true },
    analysis: { enabled: true, prompt, schema: (schema ?? undefined) as Record<string, unknown> | undefined },
    ...given,
  });
}

async function analysisOf({ ownerId }: TestAgent, conversationId: string): Promise<unknown[] | undefined> {
  const { conversation } = await service.chat.getConversation({ ownerId, conversationId });
  return conversation?.analysis?.items.map(({ error, ...item }) => ({ ...item, ...(error && { error }) }));
}

async function analyzed(agent: TestAgent, conversationId: string): Promise<unknown[]> {
  return eventually(async () => {
    const items = await analysisOf(agent, conversationId);
    if (!items) throw new Error("it is not analysed");
    return items;
  });
}

function analysisJobs({ ownerId }: TestAgent) {
  return service.sql`owner_id = ${ownerId} and queue = 'analyze-conversations'`;
}

/** Waits until this many runs of an agent's one analysis have failed, and none is in progress. */
async function failedRun(agent: TestAgent, runs: number): Promise<void> {
  await eventually(async () => {
    const [job] = await service.sql`select attempts, leased_until from jobs where ${analysisJobs(agent)}`;
    expect(job).toEqual({ attempts: runs, leased_until: null });
  });
}

/** The next question about an ended conversation, for the test to answer. */
function nextAnalysis(): Promise<ModelCall> {
  return new Promise((resolve) => {
    service.model.script = resolve;
  });
}

async function end(sessionId: string): Promise<void> {
  expect(await endChats(service.sql, [sessionId], service.clock.now())).toBe(1);
}

const ITEMS = [
  { name: "mood", value: "calm", type: 'Literal["calm","angry"]' },
  { name: "calls", value: 2, type: "Optional[int]" },
];

describe("an ended conversation of an agent with analysis", () => {
  test("is analyzed by the agent's own model before its event is sent", async () => {
    const asked = nextAnalysis();
    const agent = await analyzing();
    await want(service, agent.ownerId, "conversation.analyzed");
    const metadata = { dynamic_variables: { Customer: "Ada" } };
    const { script } = service.model;
    service.model.script = (call) => call.callTool("end_call", "{}", "Bye.");
    const { sessionId } = await service.chat.completeTurn({ turn: turn(agent, "Goodbye", { metadata }) });
    service.model.script = script;
    const call = await asked;
    expect(call.authorization).toBe("Bearer sk-customer-0000");
    expect(call.body).toMatchObject({ model: "scripted", temperature: 0.5 });
    expect(call.body.tools).toBeUndefined();
    expect(call.body.messages[0].content).toStartWith("Judge the chat of Ada.\n");
    expect(call.body.messages[1].content).toEndWith("user: Goodbye\n\nassistant: Bye.");
    expect(call.body.response_format).toEqual({
      type: "json_schema",
      json_schema: {
        name: "analysis",
        strict: true,
        schema: {
          type: "object",
          properties: {
            mood: { type: "string", enum: ["calm", "angry"] },
            calls: { anyOf: [{ type: "integer" }, { type: "null" }] },
          },
          required: ["mood", "calls"],
          additionalProperties: false,
        },
      },
    });
    expect(eventsOf(service.dispatcher, sessionId)).toEqual([]);
    call.finish(`Here it is:\n\`\`\`json\n${ANSWER}\n\`\`\``);
    expect(payloadOf(await eventOf(service, sessionId)).conversation_analysis).toEqual(ITEMS);
    expect(await analysisOf(agent, sessionId)).toEqual(ITEMS);
    const list = ListConversationsRequest.fromPartial({ ownerId: agent.ownerId, page: { number: 1, size: 10 } });
    const { conversations } = await service.chat.listConversations(list);
    expect(conversations[0]?.analysis?.items).toHaveLength(2);
    await allSentLater(service);
    expect(eventsOf(service.dispatcher, sessionId)).toHaveLength(1);
  });

  test("has one summary when there is no schema", async () => {
    const agent = await analyzing(null);
    service.model.script = (call) => call.finish("It went well.");
    const sessionId = await endedChat(service, agent);
    expect(await analyzed(agent, sessionId)).toEqual([{ name: "summary", value: "It went well.", type: "str" }]);
    expect(service.model.calls.at(-1)?.body.response_format).toBeUndefined();
  });

  test("keeps the fields that the model got right and says what is wrong with the others", async () => {
    const agent = await analyzing();
    service.model.script = (call) => call.finish('{"mood": "furious", "calls": null}');
    const sessionId = await endedChat(service, agent);
    const items = [
      { name: "mood", value: null, type: 'Literal["calm","angry"]', error: 'the model gave "furious" instead' },
      { name: "calls", value: null, type: "Optional[int]" },
    ];
    expect(await analyzed(agent, sessionId)).toEqual(items);
    expect(payloadOf(await eventOf(service, sessionId)).conversation_analysis).toEqual(items);
  });

  test("sends its event without the analysis after a minute, and stores the analysis when it arrives", async () => {
    const agent = await analyzing();
    await want(service, agent.ownerId, "conversation.analyzed");
    const asked = nextAnalysis();
    const sessionId = await endedChat(service, agent);
    const call = await asked;
    // The job renews its lease by the real clock, so the lease must survive the jump of the service's clock.
    await service.sql`update jobs set leased_until = 'infinity' where ${analysisJobs(agent)}`;
    await pass(service, 59_999);
    expect(eventsOf(service.dispatcher, sessionId)).toEqual([]);
    await pass(service, 1);
    const minuteOver = service.clock.now().getTime();
    expect(payloadOf(await eventOf(service, sessionId)).conversation_analysis).toEqual([]);
    // Only the steps of waiting for it have passed.
    expect(service.clock.now().getTime() - minuteOver).toBeLessThan(30_000);
    expect(await analysisOf(agent, sessionId)).toBeUndefined();
    call.finish(ANSWER);
    expect(await analyzed(agent, sessionId)).toEqual(ITEMS);
    await allSentLater(service);
    const [ended, late, ...others] = eventsOf(service.dispatcher, sessionId);
    expect([ended?.event, late?.event, others]).toEqual(["conversation.completed", "conversation.analyzed", []]);
    expect(payloadOf(late).conversation).toMatchObject({
      conversation_id: sessionId,
      conversation_status: "COMPLETED",
      conversation_analysis: ITEMS,
    });
  });

  test("is analyzed by a later attempt when the provider fails or its answer cannot be parsed", async () => {
    const agent = await analyzing();
    const fails = (call: ModelCall) => call.respond(500, "text/plain", "x");
    const answers = [
      ...[fails, fails, fails],
      (call: ModelCall) => call.finish("I would rather not."),
      (call: ModelCall) => call.finish(ANSWER),
    ];
    let asked = 0;
    service.model.script = (call) => answers[asked++]?.(call);
    const sessionId = await endedChat(service, agent);
    for (const run of [1, 2]) {
      await failedRun(agent, run);
      await pass(service, 30_000);
    }
    expect(await analyzed(agent, sessionId)).toEqual(ITEMS);
    expect(asked).toBe(5);
  });

  test("says why it has no analysis after every attempt has failed", async () => {
    const agent = await analyzing();
    let asked = 0;
    service.model.script = (call) => {
      asked++;
      call.respond(401, "text/plain", "x");
    };
    const sessionId = await endedChat(service, agent);
    for (const run of [1, 2, 3]) {
      await failedRun(agent, run);
      await pass(service, 120_000);
    }
    const items = await analyzed(agent, sessionId);
    const error = "The CUSTOM_LLM model provider refused the API key: x";
    expect(items).toEqual([
      { name: "mood", value: null, type: 'Literal["calm","angry"]', error },
      { name: "calls", value: null, type: "Optional[int]", error },
    ]);
    expect(asked).toBe(4);
    expect(await service.sql`select 1 from jobs where ${analysisJobs(agent)}`).toEqual([] as never);
  });

  test("reports immediately that its model is not configured", async () => {
    const llm = { providerName: "GROQ", modelName: "openai/gpt-oss-20b", params: undefined, fallbacks: [] };
    const agent = await analyzing(null, { llm });
    const call = { ownerId: agent.ownerId, conversationId: newUuid() };
    const type = ConversationType.CONVERSATION_TYPE_WEB;
    await service.chat.startConversation(StartConversationRequest.fromPartial({ ...agent, ...call, type }));
    await service.chat.appendTranscript(
      (async function* () {
        const message = { role: Role.ROLE_USER, content: "Hi" };
        yield AppendTranscriptRequest.fromPartial({ ...call, sequence: 1, message });
      })(),
    );
    const outcome = Outcome.OUTCOME_SUCCESS;
    await service.chat.completeConversation(CompleteConversationRequest.fromPartial({ ...call, outcome }));
    const error = "LLM provider GROQ is not configured: the operator has to set GROQ_API_KEY";
    expect(await analyzed(agent, call.conversationId)).toEqual([{ name: "summary", value: null, type: "str", error }]);
    expect(await eventOf(service, call.conversationId)).toBeDefined();
  });
});

describe("no analysis and no wait for one", () => {
  async function goesWithout(agent: TestAgent, sessionId: string): Promise<void> {
    const calls = service.model.calls.length;
    await end(sessionId);
    expect(payloadOf(await eventOf(service, sessionId)).conversation_analysis).toEqual([]);
    expect(await analysisOf(agent, sessionId)).toBeUndefined();
    expect(service.model.calls.length).toBe(calls);
  }

  test("when the user said nothing", async () => {
    const agent = await analyzing(SCHEMA, { firstMessagePrompt: "Hello." });
    const { sessionId } = await service.chat.startChat({ ...agent, metadata: undefined });
    await goesWithout(agent, sessionId);
  });

  test("when its version of the agent has no analysis, though a later one has", async () => {
    const plain = await createAgent(service);
    const { sessionId } = await say(service, plain);
    await service.agents.updateAgent(
      UpdateAgentRequest.fromPartial({ ...plain, analysis: { enabled: true, prompt: inline("Judge.") } }),
    );
    await goesWithout(plain, sessionId);
  });

  test("when the agent was deleted", async () => {
    const agent = await analyzing();
    const { sessionId } = await say(service, agent);
    await service.agents.deleteAgent({ ...agent, idempotency: undefined });
    await goesWithout(agent, sessionId);
  });

  test("when the agent is deleted after the analysis was enqueued", async () => {
    const agent = await analyzing();
    const { sessionId } = await say(service, agent);
    service.model.script = (call) => call.respond(401, "text/plain", "x");
    await end(sessionId);
    await failedRun(agent, 1);
    await service.agents.deleteAgent({ ...agent, idempotency: undefined });
    await pass(service, 5_000);
    expect(payloadOf(await eventOf(service, sessionId)).conversation_analysis).toEqual([]);
  });
});

describe("a manually requested analysis", () => {
  test("replaces the previous one and sends no event", async () => {
    const agent = await analyzing();
    service.model.script = (call) => call.finish('{"mood": "angry", "calls": 1}');
    const sessionId = await endedChat(service, agent);
    await analyzed(agent, sessionId);
    await eventOf(service, sessionId);
    service.model.script = (call) => call.finish(ANSWER);
    await service.chat.analyzeConversation({
      ownerId: agent.ownerId,
      conversationId: sessionId,
      idempotency: undefined,
    });
    await eventually(async () => expect(await analysisOf(agent, sessionId)).toEqual(ITEMS));
    await allSentLater(service);
    expect(eventsOf(service.dispatcher, sessionId)).toHaveLength(1);
  });

  test("is refused with the reason where none is possible", async () => {
    const ask = (ownerId: string, conversationId: string) =>
      failure(service.chat.analyzeConversation({ ownerId, conversationId, idempotency: undefined }));
    const agent = await analyzing();
    const { ownerId } = agent;
    const { sessionId } = await say(service, agent);
    expect(await ask(ownerId, sessionId)).toMatchObject({
      kind: "condition",
      detail: expect.stringContaining("in progress"),
    });
    await end(sessionId);
    await analyzed(agent, sessionId);
    expect(await ask(newOwner(), sessionId)).toMatchObject({ kind: "forbidden" });
    expect(await ask(ownerId, newUuid())).toMatchObject({ kind: "not_found", detail: "Conversation not found" });
    expect(await ask(ownerId, "x")).toMatchObject({ kind: "not_found" });

    const silent = await service.chat.startChat({ ...agent, metadata: undefined });
    await end(silent.sessionId);
    expect((await ask(ownerId, silent.sessionId)).detail).toContain("nothing to analyze");

    const plain = await createAgent(service, {}, ownerId);
    const other = await say(service, plain);
    await end(other.sessionId);
    expect((await ask(ownerId, other.sessionId)).detail).toContain("Agent has no analysis");
    await service.agents.deleteAgent({ ...plain, idempotency: undefined });
    expect((await ask(ownerId, other.sessionId)).detail).toBe("The conversation's agent was deleted");
  });
});
