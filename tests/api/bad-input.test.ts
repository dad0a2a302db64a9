import { afterAll, describe, expect, test } from "bun:test";
import type { Answer } from "../kit/api.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";

const TOO_DEEP = "The request body must not be nested more than 32 levels deep";
const JSON_TYPE = { "content-type": "application/json" };

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

const chat = (fields: object) => api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false, ...fields });
const problem = ({ status, body }: Answer) => ({ status, ...body });

test("a body that is not a JSON object is 415 when its content type is not JSON, or it is compressed", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/problem+json",
    "application/jsonx",
  ]) {
    const answer = await api.send("POST", "/agents", { body: "{}", headers: { "content-type": type } });
    const detail = "The request body must be sent with Content-Type: application/json";
    expect(problem(answer)).toEqual({ status: 415, detail });
  }
  const packed = { body: Bun.gzipSync("{}"), headers: { ...JSON_TYPE, "content-encoding": "gzip" } };
  const detail = "The request body must be sent without Content-Encoding";
  expect(problem(await api.send("POST", "/prompts", packed))).toEqual({ status: 415, detail });
  const named = { "content-type": "Application/JSON; charset=utf-8" };
  expect((await api.send("POST", "/prompts", { body: "{}", headers: named })).status).toBe(422);
});

test("a body that is not a JSON object is 413 over 1 MiB, with or without a declared length, however large", async () => {
  const sent = (bytes: number) => JSON.stringify({ prompt_content: "x".repeat(bytes - 21) });
  expect((await api.send("POST", "/prompts", { body: sent(1024 * 1024), headers: JSON_TYPE })).status).toBe(422);
  for (const bytes of [1024 * 1024 + 1, 20 * 1024 * 1024]) {
    const announced = await api.send("POST", "/prompts", { body: sent(bytes), headers: JSON_TYPE });
    expect(problem(announced)).toEqual({ status: 413, detail: "The request body must be at most 1 MiB" });
    const streamed = await api.send("POST", "/prompts", {
      body: new Blob([sent(bytes)]).stream(),
      headers: JSON_TYPE,
    });
    expect(problem(streamed)).toEqual({ status: 413, detail: "The request body must be at most 1 MiB" });
  }
});

describe("a field that breaks its rule is 422 and named", () => {
  const RESULT = { tool_call_id: "tcl_1", result: 1 };
  const cases: [object, string, string][] = [
    [{ message: "Hi" }, "agent_id", "agent_id is required"],
    [{ agent_id: "a" }, "message", "message is required"],
    [{ agent_id: "a", message: ["Hi"] }, "message", "message must be a string"],
    [{ agent_id: "a", message: "Hi", streaming: "no" }, "streaming", "streaming must be true or false"],
    [{ agent_id: "a", message: "Hi", metadata: [] }, "metadata", "metadata must be an object"],
    [
      { agent_id: "a", message: "Hi", metadata: { dynamic_variables: ["Ada"] } },
      "metadata.dynamic_variables",
      "metadata.dynamic_variables must be an object",
    ],
    [
      { agent_id: "a", message: "Hi", session_id: "7" },
      "session_id",
      "session_id must be a UUID, as a chat reply or first-message gave it",
    ],
    [{ agent_id: "a", message: "Hi", client_tools: "yes" }, "client_tools", "client_tools must be true or false"],
    [{ agent_id: "a", tool_results: [] }, "tool_results", "tool_results must not be empty"],
    [
      { agent_id: "a", tool_results: Array(41).fill(RESULT) },
      "tool_results",
      "tool_results must have at most 40 items",
    ],
    [
      { agent_id: "a", tool_results: [{ result: 1 }] },
      "tool_results.0.tool_call_id",
      "tool_results.0.tool_call_id is required",
    ],
    [{ agent_id: "a", tool_results: [RESULT] }, "session_id", "session_id is required with tool_results"],
    [
      { agent_id: "a", message: "Hi", tool_results: [RESULT] },
      "tool_results",
      "tool_results must not be sent together with message",
    ],
    [
      { agent_id: "a", session_id: Bun.randomUUIDv7(), tool_results: [RESULT, { tool_call_id: "tcl_2" }] },
      "tool_results.1",
      "tool_results.1 must have either result or error",
    ],
    [
      { agent_id: "a", session_id: Bun.randomUUIDv7(), tool_results: [{ ...RESULT, error: "No" }] },
      "tool_results.0",
      "tool_results.0 must have either result or error",
    ],
  ];
  test.each(cases)("POST /chat %j", async (body, field, message) => {
    const answer = await api.post("/chat", body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toBe(message);
    expect(answer.body.errors).toContainEqual({ path: field, message });
  });

  test("several violations are all listed, and the first is the detail", async () => {
    expect(problem(await api.post("/agents", {}))).toEqual({
      status: 422,
      detail: "agent_name is required",
      errors: [
        { path: "agent_name", message: "agent_name is required" },
        { path: "agent_type", message: "agent_type is required" },
      ],
    });
  });

  test.each([
    ["/agents?page=0", "page"],
    ["/agents?page=one", "page"],
    ["/agents?page=99999999999999999999", "page"],
    ["/agents?page_size=101", "page_size"],
    ["/agents?agent_type=BOTH", "agent_type"],
    ["/prompts?latest_only=perhaps", "latest_only"],
    ["/prompts/none?version=0", "version"],
    ["/prompts/none?version=99999999999", "version"],
    ["/chat/sessions?page_size=0", "page_size"],
    ["/conversations?conversation_type=FAX", "conversation_type"],
    ["/conversations?from_time=25:00", "from_time"],
    ["/conversations?from_date=2026-02-30", "from_date"],
    ["/conversations?timezone_offset=900", "timezone_offset"],
    ["/conversations?search=%00", "search"],
  ])("GET %s", async (path, field) => {
    const answer = await api.get(path);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toStartWith(`${field} must `);
    expect(answer.body.errors).toEqual([{ path: field, message: answer.body.detail }]);
  });
});

describe("text and numbers that cannot be stored", () => {
  test.each([
    ['{"agent_id":"a","message":"a\\u0000b"}', "message must not contain a NUL character"],
    ['{"agent_id":"a","message":"Hi","metadata":{"a":["\\u0000"]}}', "metadata.a.0 must not contain a NUL character"],
    ['{"agent_id":"a","message":"Hi","metadata":{"a\\u0000":1}}', "A field name must not contain a NUL character"],
    ['{"agent_id":"a","message":"Hi","metadata":{"a":1e400}}', "metadata.a must be a number that fits a double"],
    ['{"agent_id":"a","message":"Hi","metadata":{"a":{"__proto__":{}}}}', "A field name must not be __proto__"],
    [`{"agent_id":"a","message":"Hi","metadata":${nested(32, '{"a":', "}")}}`, TOO_DEEP],
    [`{"agent_id":"a","message":"Hi","metadata":${nested(32, "[", "]")}}`, TOO_DEEP],
    [`{"agent_id":"a","message":"Hi","metadata":${nested(5_000, '{"a":', "}")}}`, TOO_DEEP],
    [
      `{"agent_id":"a","message":"Hi","metadata":${nested(100_000, '{"a":', "}")}}`,
      "metadata must not have more than 10000 values",
    ],
  ])("%.70s is 422", async (body, detail) => {
    const answer = await api.send("POST", "/chat", { body, headers: JSON_TYPE });
    expect(problem(answer)).toMatchObject({ status: 422, detail });
  });

  test("numbers, names and nesting at their limits are returned unchanged", async () => {
    const metadata = {
      objects: JSON.parse(nested(30, '{"a":', "}")),
      arrays: JSON.parse(nested(30, "[", "]")),
      big: 1.7976931348623157e308,
      small: 5e-324,
      whole: 9007199254740991,
      minus: -0.5,
      "": "empty",
      ключ: "🗝",
    };
    const { body } = await chat({ metadata });
    const session = await api.get(`/chat/sessions/${body.session_id}`);
    expect(session.body.metadata).toMatchObject(metadata);
    const conversations = await api.get(`/conversations?conversation_id=${body.session_id}`);
    expect(conversations.body.data[0].conversation_metadata).toMatchObject(metadata);
  });

  test("names that are special in JavaScript are ordinary names", async () => {
    const metadata = { constructor: "c", toString: "t", hasOwnProperty: 1, length: 2 };
    const { body } = await chat({ metadata });
    const session = await api.get(`/chat/sessions/${body.session_id}`);
    expect(session.body.metadata).toEqual(expect.objectContaining(metadata));
  });

  test("half of a surrogate pair becomes U+FFFD, stored as the model saw it", async () => {
    const sent = `{"agent_id":"${agentId}","message":"a\\ud800b","streaming":false,"metadata":{"\\udc00":"\\ud800"}}`;
    const { body } = await api.send("POST", "/chat", { body: sent, headers: JSON_TYPE });
    const session = await api.get(`/chat/sessions/${body.session_id}`);
    expect(session.body.messages[0].content).toBe("a\ufffdb");
    expect(session.body.metadata).toMatchObject({ "\ufffd": "\ufffd" });
    expect(model.requests.at(-1)?.body.messages.at(-1)?.content).toBe("a\ufffdb");
  });
});

test("a message that is empty or over 4000 code points is 400", async () => {
  const detail = "message must be 1 to 4000 characters";
  expect(problem(await chat({ message: "" }))).toEqual({ status: 400, detail });
  expect(problem(await chat({ message: "x".repeat(4001) }))).toEqual({ status: 400, detail });
  expect(problem(await chat({ message: "🙂".repeat(4001) }))).toEqual({ status: 400, detail });
});

test("a message of 4000 emoji is accepted and stored whole", async () => {
  const message = "🙂".repeat(4000);
  const answer = await chat({ message });
  expect(answer.status).toBe(200);
  const session = await api.get(`/chat/sessions/${answer.body.session_id}`);
  expect(session.body.messages[0].content).toBe(message);
});

test("X-Request-ID is returned when it is well formed, on errors too", async () => {
  for (const id of ["a", "Req-1.2:3_4", "x".repeat(128)]) {
    const named = { "x-request-id": id };
    expect((await api.get("/agents", named)).headers.get("x-request-id")).toBe(id);
    expect((await api.get("/agents/none", named)).headers.get("x-request-id")).toBe(id);
    expect((await api.get("/nowhere", named)).headers.get("x-request-id")).toBe(id);
    expect((await stack.api("").get("/agents", named)).headers.get("x-request-id")).toBe(id);
    for (const path of ["//healthz", "//readyz", "//openapi.json", "//docs", "//docs/start.js"]) {
      expect((await stack.api("").get(path, named)).headers.get("x-request-id")).toBe(id);
    }
  }
});

test("X-Request-ID is generated when it is not", async () => {
  for (const id of ["", "x".repeat(129), "two words", "semi;colon", "ü"]) {
    const { headers } = await api.get("/agents", { "x-request-id": id });
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  }
});

test("an idempotency key that is malformed is 422; one of 255 characters is accepted", async () => {
  for (const key of ["", "x".repeat(256), "schlüssel"]) {
    const answer = await api.post("/prompts", { prompt_name: "p", prompt_content: "c" }, { "idempotency-key": key });
    const detail = "Idempotency-Key must be 1 to 255 printable ASCII characters";
    expect(problem(answer)).toMatchObject({ status: 422, detail });
  }
  const longest = { "idempotency-key": `~ ${"x".repeat(253)}` };
  expect((await api.post("/prompts", { prompt_name: "p", prompt_content: "c" }, longest)).status).toBe(200);
});

describe("a model's address", () => {
  test.each(["10.0.0.2", "[::ffff:10.0.0.2]", "167772162", "0x0a000002", "169.254.169.254"])(
    "that is private is refused with the agent: %s",
    async (host) => {
      const llm = llmOf({ baseUrl: `https://${host}:8443/v1` });
      const answer = await api.post("/agents", { agent_name: "a", agent_type: "INBOUND", prompt_content: "p", llm });
      const message = expect.stringMatching(/^llm\.params\.base_url cannot be used: .+ is not at a public address/);
      expect(problem(answer)).toMatchObject({ status: 422, errors: [{ path: "llm.params.base_url", message }] });
    },
  );

  test("whose name does not resolve is never called: a 502 says so, and the message is stored", async () => {
    const agentId = await createAgent(api, { baseUrl: "https://nowhere.invalid/v1" });
    const answer = await chat({ agent_id: agentId });
    expect(answer.status).toBe(502);
    expect(answer.body.detail).toStartWith("The CUSTOM_LLM model provider was not called: ");
    const session = await api.get(`/chat/sessions/${answer.headers.get("x-session-id")}`);
    expect(session.body.messages).toMatchObject([{ role: "user", content: "Hi" }]);
  });
});

function nested(levels: number, open: string, close: string): string {
  return `${open.repeat(levels)}1${close.repeat(levels)}`;
}
