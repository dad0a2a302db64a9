import { afterAll, describe, expect, test } from "bun:test";
import { answerOf } from "../kit/api.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const api = stack.api(stack.owners[0].apiKey);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

describe("the quick start", () => {
  let agentId: string;
  let sessionId: string;

  test("creates an agent: its prompt is stored, its variables are found and its model key is not shown", async () => {
    const { status, body } = await api.post("/agents", {
      agent_name: "Front desk",
      agent_type: "INBOUND",
      prompt_content: 'You are Ada, at the front desk of {{Company Name}}. Open {{hours | "9 to 5"}}.',
      first_message_prompt: "Hello, this is {{company_name | Parley}}.",
      llm: { ...llmOf(model), params: { ...llmOf(model).params, temperature: 0.5 } },
    });
    expect(status).toBe(200);
    agentId = body.id;
    expect(body).toMatchObject({
      id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
      agent_name: "Front desk",
      agent_type: "INBOUND",
      agent_category: "other",
      llm: {
        provider_name: "CUSTOM_LLM",
        model_name: "scripted",
        params: { base_url: model.baseUrl, api_key: "********6789", temperature: 0.5 },
      },
      prompt: {
        prompt_name: `agent-${agentId}`,
        prompt_version: 1,
        prompt_content: 'You are Ada, at the front desk of {{Company Name}}. Open {{hours | "9 to 5"}}.',
      },
      dynamic_variables: ["company_name", "hours"],
      created_at: TIME,
      updated_at: TIME,
    });
    expect((await api.get(`/agents/${agentId}`)).body).toEqual(body);
    expect((await api.get(`/prompts/agent-${agentId}`)).body.prompt_content).toBe(body.prompt.prompt_content);
  });

  test("gives the model the agent's prompt with its variables filled, and the user's message", async () => {
    const message = "Hello, I need some help with my order.";
    const metadata = { dynamic_variables: { COMPANY_NAME: "Acme" }, source: "website" };
    const answer = await answerOf(await api.chat({ agent_id: agentId, message, metadata }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.body).toBe(echoOf(message));
    sessionId = answer.headers.get("x-session-id") ?? "";
    expect(sessionId).toMatch(UUID_V7);
    expect(model.requests.at(-1)).toMatchObject({
      path: "/v1/chat/completions",
      authorization: `Bearer ${llmOf(model).params.api_key}`,
      body: {
        model: "scripted",
        stream: true,
        temperature: 0.5,
        messages: [
          { role: "system", content: "You are Ada, at the front desk of Acme. Open 9 to 5." },
          { role: "user", content: message },
        ],
      },
    });
  });

  test("continues the session without streaming: the model sees what was said before", async () => {
    const { status, body, headers } = await api.post("/chat", {
      agent_id: agentId,
      session_id: sessionId,
      message: "Who are you?",
      streaming: false,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ response: echoOf("Who are you?"), session_id: sessionId });
    expect(headers.get("x-session-id")).toBe(sessionId);
    const { messages, stream } = model.requests.at(-1)?.body ?? {};
    expect(stream ?? false).toBe(false);
    expect(messages).toEqual([
      { role: "system", content: "You are Ada, at the front desk of Acme. Open 9 to 5." },
      { role: "user", content: "Hello, I need some help with my order." },
      { role: "assistant", content: echoOf("Hello, I need some help with my order.") },
      { role: "user", content: "Who are you?" },
    ]);
  });

  test("shows the session with every message in order and its usage", async () => {
    const { status, body } = await api.get(`/chat/sessions/${sessionId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      session_id: sessionId,
      agent_id: agentId,
      status: "IN_PROGRESS",
      message_count: 4,
      messages: [
        { role: "user", content: "Hello, I need some help with my order.", timestamp: TIME },
        { role: "assistant", content: echoOf("Hello, I need some help with my order."), timestamp: TIME },
        { role: "user", content: "Who are you?", timestamp: TIME },
        { role: "assistant", content: echoOf("Who are you?"), timestamp: TIME },
      ],
      metadata: { source: "website", last_activity: TIME, session_status: "IN_PROGRESS" },
      usage: { replies: 2, input_tokens: 22, output_tokens: 14 },
      created_at: TIME,
      updated_at: TIME,
    });
  });

  test("lists the session among the agent's chats and the conversation among the owner's", async () => {
    const sessions = await api.get(`/chat/sessions?agent_id=${agentId}`);
    expect(sessions.body).toMatchObject({
      object: "list",
      data: [
        {
          id: sessionId,
          object: "chat.session",
          agent_id: agentId,
          conversation_name: "Hello, I need some help with my order.",
          message_count: 4,
          created_at: expect.any(Number),
          updated_at: expect.any(Number),
        },
      ],
      has_more: false,
      total: 1,
      page: 1,
      page_size: 10,
      total_pages: 1,
    });
    const conversations = await api.get("/conversations?conversation_type=CHAT&search=who%20are");
    expect(conversations.body).toMatchObject({
      status: "success",
      data: [
        {
          id: expect.stringMatching(/^cnv_[0-9a-z]{26}$/),
          conversation_id: sessionId,
          agent_id: agentId,
          conversation_type: "CHAT",
          conversation_status: "IN_PROGRESS",
          conversation_analysis: null,
          created_by: stack.owners[0].ownerId,
          conversation_metadata: { source: "website", session_status: "IN_PROGRESS" },
        },
      ],
      pagination: { total: 1, page: 1, page_size: 10, total_pages: 1, has_next: false, has_previous: false },
    });
    expect(conversations.body.data[0].conversation_transcript).toHaveLength(4);
    const path = `/conversations/${sessionId}`;
    expect((await api.get(path)).body).toEqual(conversations.body.data[0]);
    const reply = {
      provider_name: "CUSTOM_LLM",
      model_name: "scripted",
      input_tokens: expect.any(Number),
      output_tokens: expect.any(Number),
      first_word_ms: expect.any(Number),
      total_ms: expect.any(Number),
      is_partial: false,
      partial_reason: null,
    };
    expect((await api.get(`${path}?include=replies`)).body.conversation_transcript[1].reply).toEqual(reply);
    const session = await api.get(`/chat/sessions/${sessionId}?include=replies`);
    expect(session.body.messages[1].reply).toEqual(reply);
    // The agent does not state what its model costs.
    const unknown = { cost_usd_micros: 0, unpriced_replies: 2 };
    const priced = (await api.get(`${path}?include=cost`)).body;
    expect(priced.conversation_transcript[1].reply).toEqual({ ...reply, cost_usd_micros: null });
    expect(priced.usage).toEqual({ ...session.body.usage, ...unknown });
    expect((await api.get(`/chat/sessions/${sessionId}?include=cost`)).body.usage).toEqual(priced.usage);
    const listed = (await api.get(`/conversations?conversation_id=${sessionId}&include=cost`)).body.data;
    expect(listed).toMatchObject([{ conversation_id: sessionId, usage: priced.usage }]);
  });

  test("shows on request which tools the model called for a reply", async () => {
    const calling = await createAgent(api, model, { tools: { set_language: true } });
    model.next((exchange) => {
      exchange.text("One moment.");
      exchange.toolCall("set_language", { language: "es" });
      exchange.finish();
    });
    const { body } = await api.post("/chat", { agent_id: calling, message: "Spanish, please", streaming: false });
    const call = {
      name: "set_language",
      arguments: '{"language":"es"}',
      result: "The conversation continues in Spanish (es). Answer the user in it now.",
      is_error: false,
      is_cut: false,
      started_ms: expect.any(Number),
      duration_ms: expect.any(Number),
      ...{
        tool_call_id: expect.stringMatching(/^tcl_/),
        status: "SUCCEEDED",
        http_status: null,
        note: null,
        attempts: 1,
      },
      offset: "One moment.".length,
    };
    const path = `/conversations/${body.session_id}`;
    const shown = (await api.get(`${path}?include=replies`)).body.conversation_transcript;
    expect(shown.map((message: { tool_calls?: unknown }) => message.tool_calls)).toEqual([undefined, [call]]);
    const session = await api.get(`/chat/sessions/${body.session_id}?include=replies`);
    expect(session.body.messages).toEqual(shown);
    const [, { reply, tool_calls, ...usual }] = shown;
    expect((await api.get(path)).body.conversation_transcript[1]).toEqual(usual);
  });
});

test("a streamed reply reaches the client word by word while the model is still answering", async () => {
  const agentId = await createAgent(api, model);
  const asked = model.next();
  const pending = api.chat({ agent_id: agentId, message: "Speak slowly" });
  const exchange = await asked;
  exchange.text("Once ");
  exchange.text("upon");
  const response = await pending;
  expect(response.headers.get("x-session-id")).toMatch(UUID_V7);
  const read = readerOf(response);
  expect(await read()).toBe("Once ");
  exchange.text(" a");
  expect(await read()).toBe("upon ");
  exchange.text("  time,");
  expect(await read()).toBe("a  ");
  exchange.text("\n\nthere");
  expect(await read()).toBe("time,\n\n");
  exchange.finish();
  expect(await read()).toBe("there");
  expect(await read()).toBeNull();
});

describe("an idempotency key", () => {
  test("replays a streamed reply whole and marked; the model is called once, and keys are per owner", async () => {
    const body = { agent_id: await createAgent(api, model), message: "Only once" };
    const headers = { "idempotency-key": "one turn" };
    const before = model.requests.length;
    const [first, ...again] = [
      await api.post("/chat", body, headers),
      await api.post("/chat", body, headers),
      await api.post("/chat", body, headers),
    ];
    expect([first.status, first.body, first.headers.get("idempotent-replayed")]).toEqual([
      200,
      echoOf("Only once"),
      null,
    ]);
    for (const answer of again) {
      expect([answer.status, answer.body]).toEqual([200, first.body]);
      expect(answer.headers.get("idempotent-replayed")).toBe("true");
      expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(answer.headers.get("x-session-id")).toBe(first.headers.get("x-session-id"));
    }
    expect(model.requests).toHaveLength(before + 1);
    const whole = await api.post("/chat", { ...body, streaming: false }, headers);
    expect([whole.status, whole.body.errors[0].path]).toEqual([422, "Idempotency-Key"]);

    const foreign = stack.api(stack.owners[1].apiKey);
    const theirs = await foreign.post("/chat", { ...body, agent_id: await createAgent(foreign, model) }, headers);
    expect([theirs.status, theirs.headers.get("idempotent-replayed")]).toEqual([200, null]);
  });

  test.each([true, false])("replays a refused message's error, marked, with streaming %p", async (streaming) => {
    const { body: agent } = await api.post("/agents", { agent_name: "No model", agent_type: "INBOUND" });
    const send = () =>
      api.post(
        "/chat",
        { agent_id: agent.id, message: "Hi", streaming },
        { "idempotency-key": `refused ${streaming}` },
      );
    const [first, again] = [await send(), await send()];
    expect([first.status, first.body, first.headers.get("idempotent-replayed")]).toEqual([
      400,
      { detail: "Agent has no LLM configuration: set llm" },
      null,
    ]);
    expect([again.status, again.body, again.headers.get("idempotent-replayed")]).toEqual([400, first.body, "true"]);
  });
});

describe("first-message", () => {
  test("opens a session with the greeting as its first message, which the model sees", async () => {
    const agentId = await createAgent(api, model, { first_message_prompt: "Hello, this is {{company | Parley}}." });
    const greeted = await api.get(`/agents/${agentId}/first-message`);
    expect(greeted.status).toBe(200);
    const { session_id } = greeted.body;
    expect(greeted.body).toEqual({ session_id, first_message: "Hello, this is Parley.", agent_id: agentId });
    expect(session_id).toMatch(UUID_V7);
    expect(greeted.headers.get("x-session-id")).toBe(session_id);
    expect((await api.get("/chat/sessions")).body.data[0]).toMatchObject({
      id: session_id,
      conversation_name: "New chat",
      message_count: 1,
    });

    await answerOf(await api.chat({ agent_id: agentId, session_id, message: "Hi there" }));
    expect(model.requests.at(-1)?.body.messages).toEqual([
      { role: "system", content: "Be brief." },
      // Many servers refuse a conversation that the assistant starts.
      { role: "user", content: "(The conversation begins.)" },
      { role: "assistant", content: "Hello, this is Parley." },
      { role: "user", content: "Hi there" },
    ]);
    const session = await api.get(`/chat/sessions/${session_id}`);
    expect(session.body.messages.map(({ content }: { content: string }) => content)).toEqual([
      "Hello, this is Parley.",
      "Hi there",
      echoOf("Hi there"),
    ]);
  });
});

test("an agent without a model cannot chat, and says so with 400", async () => {
  const { body } = await api.post("/agents", { agent_name: "Mute", agent_type: "INBOUND" });
  const answer = await api.post("/chat", { agent_id: body.id, message: "Hi" });
  expect(answer.status).toBe(400);
  expect(answer.body).toEqual({ detail: "Agent has no LLM configuration: set llm" });
});

/** Reads a body piece by piece; null at its end. */
function readerOf(response: Response): () => Promise<string | null> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return async () => {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    return done ? null : (value ?? "");
  };
}
