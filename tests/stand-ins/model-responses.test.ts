import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningModel, startModel } from "@parley/dev/stand-ins/model/server.ts";

let model: RunningModel;
beforeAll(() => {
  model = startModel();
});
afterAll(() => model.stop());

const ASKS_WHO = { model: "gpt-4o", instructions: "You are Ada.", input: "Who are you?" };
const ANSWER = "I am Ada. What brings you here today?";
const END_CALL = { type: "function", name: "end_call", parameters: { type: "object", properties: {} } };
const MESSAGE = {
  id: expect.stringMatching(/^msg_/),
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", annotations: [], logprobs: [], text: ANSWER }],
};
const CALL = {
  id: expect.stringMatching(/^fc_/),
  type: "function_call",
  status: "completed",
  call_id: expect.stringMatching(/^call_/),
  name: "end_call",
  arguments: "{}",
};

async function responses(body: unknown) {
  const response = await fetch(`${model.url}/v1/responses`, { method: "POST", body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as { output: unknown[]; error: unknown } };
}

async function events(body: object) {
  const init = { method: "POST", body: JSON.stringify({ ...body, stream: true }) };
  const text = await (await fetch(`${model.url}/v1/responses`, init)).text();
  expect(text).toEndWith("\n\n");
  return text
    .trimEnd()
    .split("\n\n")
    .map((event, index) => {
      const [name, data] = event.split("\n");
      const parsed = JSON.parse(data?.replace(/^data: /, "") ?? "");
      expect(name).toBe(`event: ${parsed.type}`);
      expect(parsed.sequence_number).toBe(index);
      return parsed;
    });
}

test("a whole response has OpenAI's shape and an estimated usage", async () => {
  const { status, body } = await responses({ ...ASKS_WHO, metadata: { a: "b" } });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: expect.stringMatching(/^resp_/),
    object: "response",
    created_at: expect.any(Number),
    status: "completed",
    error: null,
    incomplete_details: null,
    instructions: "You are Ada.",
    metadata: { a: "b" },
    model: "gpt-4o",
    output: [MESSAGE],
    usage: {
      input_tokens: 6,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 16,
    },
  });
});

test("a streamed response sends every event in order, numbered from 0, and is completed with its usage", async () => {
  const sent = await events(ASKS_WHO);
  const deltas = sent.filter(({ type }) => type === "response.output_text.delta");
  expect(sent.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    ...deltas.map(() => "output_text.delta"),
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
  expect(sent[0].response).toMatchObject({ status: "in_progress", output: [], usage: null });
  expect(sent[2].item).toMatchObject({ status: "in_progress", content: [] });
  expect(deltas.map(({ delta }) => delta)).toEqual([
    "I",
    " am",
    " Ada.",
    " What",
    " brings",
    " you",
    " here",
    " today?",
  ]);
  const [itemId] = new Set(deltas.map(({ item_id }) => item_id));
  expect(sent.at(-4)).toMatchObject({ item_id: itemId, output_index: 0, content_index: 0, text: ANSWER });
  expect(sent.at(-2).item).toEqual({ ...MESSAGE, id: itemId });
  expect(sent.at(-1).response).toMatchObject({
    id: sent[0].response.id,
    status: "completed",
    output: [{ ...MESSAGE, id: itemId }],
    usage: { input_tokens: 6, output_tokens: 10, total_tokens: 16 },
  });
});

test("input items are read, in parts and of any type", async () => {
  const input = [
    { role: "developer", content: "You are Ada." },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] },
    { type: "item_reference", id: "msg_1" },
    { role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
    { role: "user", content: [{ type: "input_text", text: "Who are you?" }] },
  ];
  const { body } = await responses({ input });
  expect(body.output).toMatchObject([{ content: [{ text: "My name is Ada. How can I help?" }] }]);
});

test("a schema in text.format is answered with JSON of it", async () => {
  const schema = { type: "object", properties: { mood: { enum: ["good", "bad"] } }, required: ["mood"] };
  const text = { format: { type: "json_schema", name: "a", schema } };
  const { body } = await responses({ ...ASKS_WHO, text });
  expect(body.output).toMatchObject([{ content: [{ text: '{"mood":"good"}' }] }]);
});

test("a goodbye calls end_call, whole and streamed", async () => {
  const ask = { input: "that's all, goodbye", tools: [END_CALL] };
  expect((await responses(ask)).body.output).toEqual([CALL]);
  const sent = await events(ask);
  expect(sent.map(({ type }) => type.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  expect(sent[2].item).toMatchObject({ status: "in_progress", name: "end_call", arguments: "" });
  expect(sent.at(-2).item).toEqual(CALL);
});

test("a farewell follows the result of end_call", async () => {
  const input = [
    { role: "user", content: "goodbye" },
    { type: "function_call", call_id: "c1", name: "end_call", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "ended" },
  ];
  const { body } = await responses({ input, tools: [END_CALL] });
  expect(body.output).toMatchObject([{ content: [{ text: "Goodbye, and thank you for the conversation." }] }]);
});

test.each([
  [{}, "missing_required_parameter", "input"],
  [{ input: [] }, "invalid_value", "input"],
  [{ input: [7] }, "invalid_value", "input[0]"],
  [{ input: [{ role: "king" }] }, "invalid_value", "input[0].role"],
  [{ input: "a", text: { format: { type: "json_schema" } } }, "missing_required_parameter", "text.format.schema"],
  [{ input: "a", previous_response_id: "resp_1" }, "previous_response_not_found", "previous_response_id"],
])("the request %j is answered with 400 %s", async (ask, code, param) => {
  const { status, body } = await responses(ask);
  expect(status).toBe(400);
  expect(body.error).toEqual({ message: expect.stringMatching(/\S/), type: "invalid_request_error", param, code });
});
