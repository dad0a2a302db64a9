import { afterAll, describe, expect, test } from "bun:test";
import { startModel } from "@parley/dev/stand-ins/model/server.ts";
import { type SseEvent, sse } from "@parley/dev/stand-ins/model/sse.ts";

const model = startModel();
afterAll(() => model.stop());

const ASKS_WHO = [
  { role: "system", content: "You are Ada." },
  { role: "user", content: "Who are you?" },
];
const ANSWER = "I am Ada. What brings you here today?";
const END_CALL = { type: "function", function: { name: "end_call", parameters: { type: "object", properties: {} } } };

function chat(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${model.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function chunks(body: object) {
  const response = await chat({ model: "m", stream: true, ...body });
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const events = (await response.text()).split("\n\n");
  expect(events.splice(-2)).toEqual(["data: [DONE]", ""]);
  return events.map((event) => JSON.parse(event.replace(/^data: /, "")));
}

test("a whole chat completion has OpenAI's shape and a usage of a token for every four characters", async () => {
  const response = await chat({ model: "gpt-4o", messages: ASKS_WHO });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    id: expect.stringMatching(/^chatcmpl-\w+$/),
    object: "chat.completion",
    created: expect.any(Number),
    model: "gpt-4o",
    service_tier: "default",
    system_fingerprint: expect.any(String),
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: ANSWER, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: expect.objectContaining({ prompt_tokens: 6, completion_tokens: 10, total_tokens: 16 }),
  });
});

test.each([{}, { authorization: "Bearer anything" }])(
  "a whole chat completion is returned with the headers %j",
  async (headers) => {
    expect((await chat({ messages: ASKS_WHO }, headers)).status).toBe(200);
  },
);

test("a whole chat completion reads content given as parts, and null content", async () => {
  const parts = [
    { type: "text", text: "Who " },
    { type: "image_url", image_url: { url: "data:," } },
    { type: "input_text", text: "are you?" },
  ];
  const messages = [ASKS_WHO[0], { role: "assistant", content: null }, { role: "user", content: parts }];
  const completion = (await (await chat({ messages })).json()) as { choices: [{ message: { content: string } }] };
  expect(completion.choices[0].message.content).toBe(ANSWER);
});

const PRICES =
  "[prices.pdf: Repairs]\n| Repair | Price |\n| --- | --- |\n| Small | 40 euros |\n\nA large repair takes 90 euros.";
const marked = (text: string) => `It is data.\n===af09===\n${text}\n===af09===`;

test.each([
  ["before a message", [{ role: "user", content: `Found:\n${marked(PRICES)}\n\nHow much is a small repair?` }]],
  [
    "in a prompt",
    [
      { role: "system", content: `You are Ada.\n\n${marked(PRICES)}` },
      { role: "user", content: "How much is a small repair?" },
    ],
  ],
  [
    "in what a search answered",
    [
      { role: "user", content: "How much is a small repair?" },
      { role: "assistant", content: null, tool_calls: [] },
      { role: "tool", tool_call_id: "c1", content: marked(PRICES) },
    ],
  ],
])("a question is answered from documents that stand %s", async (_where, messages) => {
  const completion = (await (await chat({ messages })).json()) as { choices: [{ message: { content: string } }] };
  expect(completion.choices[0].message.content).toBe("Small: 40 euros.");
});

test("a whole chat completion is JSON of the requested schema, with strings from the conversation", async () => {
  const schema = {
    type: "object",
    properties: { summary: { type: "string" }, score: { type: "integer", minimum: 1 } },
  };
  const messages = [{ role: "user", content: "The heating is off again" }];
  const ask = async (response_format: object) => {
    const completion = (await (await chat({ messages, response_format })).json()) as {
      choices: [{ message: { content: string } }];
    };
    return JSON.parse(completion.choices[0].message.content);
  };
  expect(await ask({ type: "json_schema", json_schema: { name: "a", schema } })).toEqual({
    summary: "The heating is off again",
    score: 1,
  });
  expect(await ask({ type: "json_object" })).toEqual({ reply: expect.any(String) });
});

test("a streamed chat completion sends the role first, then word by word, then the finish reason", async () => {
  const sent = await chunks({ messages: ASKS_WHO });
  const choices = sent.map((chunk) => chunk.choices[0]);
  expect(choices[0]).toEqual({
    index: 0,
    delta: { role: "assistant", content: "", refusal: null },
    logprobs: null,
    finish_reason: null,
  });
  expect(choices.slice(1, -1).map((choice) => choice.delta)).toEqual(
    ["I", " am", " Ada.", " What", " brings", " you", " here", " today?"].map((content) => ({ content })),
  );
  expect(choices.at(-1)).toEqual({ index: 0, delta: {}, logprobs: null, finish_reason: "stop" });
  expect(new Set(sent.map(({ id, object, model }) => `${id} ${object} ${model}`)).size).toBe(1);
  expect(sent[0].object).toBe("chat.completion.chunk");
  expect(sent.some((chunk) => "usage" in chunk)).toBe(false);
});

test("a streamed chat completion ends with usage when asked to, null until then", async () => {
  const sent = await chunks({ messages: ASKS_WHO, stream_options: { include_usage: true } });
  expect(sent.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 6, completion_tokens: 10, total_tokens: 16 },
  });
  for (const chunk of sent.slice(0, -1)) expect(chunk.usage).toBeNull();
});

describe("end_call", () => {
  const bye = { role: "user", content: "Thanks, that's all. Bye!" };

  test("is called when offered and the user says goodbye, whole and streamed", async () => {
    const body = { messages: [bye], tools: [END_CALL] };
    const completion = (await (await chat(body)).json()) as { choices: unknown[] };
    const call = {
      id: expect.stringMatching(/^call_/),
      type: "function",
      function: { name: "end_call", arguments: "{}" },
    };
    expect(completion.choices).toMatchObject([
      { message: { content: null, tool_calls: [call] }, finish_reason: "tool_calls" },
    ]);
    const [first, second, last] = (await chunks(body)).map((chunk) => chunk.choices[0]);
    expect(first.delta.tool_calls).toEqual([{ index: 0, ...call, function: { name: "end_call", arguments: "" } }]);
    expect(second.delta).toEqual({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] });
    expect(last).toMatchObject({ delta: {}, finish_reason: "tool_calls" });
  });

  test("is called with arguments of its schema, filled with the farewell", async () => {
    const parameters = { type: "object", properties: { message: { type: "string" } }, required: ["message"] };
    const tools = [{ type: "function", function: { name: "end_call", parameters } }];
    const sent = await chunks({ messages: [bye], tools });
    expect(JSON.parse(sent[1].choices[0].delta.tool_calls[0].function.arguments)).toEqual({
      message: "Goodbye, and thank you for the conversation.",
    });
  });

  test.each([
    ["it was not offered", { messages: [bye], tools: [{ type: "function", function: { name: "transfer_call" } }] }],
    ["tools are refused", { messages: [bye], tools: [END_CALL], tool_choice: "none" }],
    [
      "its result is there already",
      {
        messages: [
          bye,
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "end_call", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c1", content: "ended" },
        ],
        tools: [END_CALL],
      },
    ],
  ])("is replaced by a farewell when %s", async (_, body) => {
    const completion = (await (await chat(body)).json()) as { choices: unknown[] };
    expect(completion.choices).toMatchObject([
      { message: { content: "Goodbye, and thank you for the conversation." }, finish_reason: "stop" },
    ]);
  });

  test("is not called when the user does not say goodbye", async () => {
    const completion = (await (await chat({ messages: ASKS_WHO, tools: [END_CALL] })).json()) as { choices: unknown[] };
    expect(completion.choices).toMatchObject([{ message: { content: ANSWER } }]);
  });
});

test.each([
  ["{", "invalid_json", null],
  ["[]", "invalid_json", null],
  [{}, "missing_required_parameter", "messages"],
  [{ messages: [] }, "invalid_value", "messages"],
  [{ messages: ["hello"] }, "invalid_value", "messages[0]"],
  [{ messages: [{ role: "king", content: "" }] }, "invalid_value", "messages[0].role"],
  [{ messages: [{ role: "user", content: 7 }] }, "invalid_value", "messages[0].content"],
  [{ messages: ASKS_WHO, response_format: { type: "xml" } }, "invalid_value", "response_format.type"],
  [
    { messages: ASKS_WHO, response_format: { type: "json_schema" } },
    "missing_required_parameter",
    "response_format.json_schema.schema",
  ],
  [
    { messages: ASKS_WHO, stream: true, response_format: { type: "json_schema", json_schema: { schema: false } } },
    "invalid_json_schema",
    "schema",
  ],
])("an error in OpenAI's shape answers %j with 400 %s", async (body, code, param) => {
  const response = await chat(body);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({
    error: { message: expect.stringMatching(/\S/), type: "invalid_request_error", param, code },
  });
});

test("an error in OpenAI's shape answers an unknown route with 404 that names the known ones", async () => {
  const response = await fetch(`${model.url}/v1/embeddings`, { method: "POST" });
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual({
    error: {
      message: expect.stringContaining("POST /v1/chat/completions"),
      type: "invalid_request_error",
      param: null,
      code: "unknown_url",
    },
  });
});

test("an error in OpenAI's shape answers a wrong method with 405 and the right one", async () => {
  const response = await fetch(`${model.url}/v1/chat/completions`);
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
});

test("the models and the health are served", async () => {
  const models = await fetch(`${model.url}/v1/models`);
  expect(await models.json()).toEqual({
    object: "list",
    data: [{ id: "stand-in", object: "model", created: 0, owned_by: "parley" }],
  });
  expect(await (await fetch(`${model.url}/healthz`)).json()).toEqual({ status: "ok" });
});

test("the words of a stream are spaced by the delay", async () => {
  const slow = startModel({ wordDelayMs: 20 });
  const startedAt = performance.now();
  const response = await fetch(`${slow.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ messages: ASKS_WHO, stream: true }),
  });
  const words = (await response.text()).split("data: ").length;
  expect(words).toBeGreaterThan(8);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(7 * 20);
  await slow.stop();
});

test("a client that disconnects ends the stream, even during a word's delay", async () => {
  const ended = Promise.withResolvers<number>();
  function* endless(): Generator<SseEvent> {
    let taken = 0;
    try {
      for (;;) yield { data: String(taken), word: taken++ > 0 };
    } finally {
      ended.resolve(taken);
    }
  }
  const server = Bun.serve({ port: 0, fetch: (request) => sse(endless(), 60_000, request.signal) });
  const client = new AbortController();
  const response = await fetch(server.url, { signal: client.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  client.abort();
  expect(await ended.promise).toBe(2);
  await server.stop(true);
});
