import { afterAll, describe, expect, test } from "bun:test";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import { type Answer, answerOf } from "../kit/api.ts";
import { isComplete, rawChat } from "../kit/raw-chat.ts";
import { type Exchange, echoOf, type Script, type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent, llmOf } from "../kit/test-agent.ts";

const UUID = /^[0-9a-f-]{36}$/;
/** The time that a model has: on a busy machine, half of it must be enough for three attempts. */
const MODEL_MS = "3000";
/** A model call ends within a second after its client leaves, and in any case before a model counts as stalled. */
const CANCELLED_WITHIN_MS = 2_500;

const env = { PARLEY_LLM_DEADLINE_MS: MODEL_MS, PARLEY_LLM_STALL_MS: MODEL_MS, PARLEY_LLM_RETRY_MS: "1" };
const [stack, model, second] = await Promise.all([
  startTestStack({ env, without: BESIDES_CHATS }),
  startScriptedModel(),
  startScriptedModel(),
]);
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model);
const pids = stack.pids();
afterAll(async () => {
  await stack.stop();
  await Promise.all([model.stop(), second.stop()]);
});

const WAYS = [
  { way: "streamed", streaming: true },
  { way: "whole", streaming: false },
];

const chat = (fields: object) => api.post("/chat", { agent_id: agentId, message: "Hi", ...fields });
const sessionOf = ({ headers }: { headers: Headers }) => headers.get("x-session-id") ?? "";
const messagesOf = async (sessionId: string): Promise<string[]> =>
  (await api.get(`/chat/sessions/${sessionId}`)).body.messages.map(
    ({ role, content }: { role: string; content: string }) => `${role}: ${content}`,
  );

async function logLines(
  service: string,
  isMeant: (line: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>[]> {
  const lines = (await Bun.file(stack.home.file(`logs/${service}.log`)).text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(isMeant);
}

/** A session can continue: the next turn is answered, and the earlier messages are still there. */
async function goesOn(sessionId: string, before: string[], agent = agentId): Promise<void> {
  expect(await messagesOf(sessionId)).toEqual(before);
  const answer = await chat({ agent_id: agent, session_id: sessionId, message: "Still there?", streaming: false });
  expect(answer.body).toEqual({ response: echoOf("Still there?"), session_id: sessionId });
  const after = [...before, "user: Still there?", `assistant: ${echoOf("Still there?")}`];
  expect(await messagesOf(sessionId)).toEqual(after);
}

describe("a model that fails before the first word", () => {
  const sse = (data: string) => `data: ${data}\n\n`;
  const whole = (body: string) => (exchange: Exchange) => exchange.respond(200, "application/json", body);
  const faults: [string, number, string, Script][] = [
    [
      "answers 500",
      502,
      "answered with status 500: Out of memory",
      (x) => x.respond(500, "application/json", '{"error":{"message":"Out of memory"}}'),
    ],
    ["answers 503 with HTML", 502, "answered with status 503", (x) => x.respond(503, "text/html", "<h1>Oops</h1>")],
    [
      "refuses the key",
      502,
      "refused the API key: Incorrect API key provided: ****",
      (x) =>
        x.respond(401, "application/json", '{"error":{"message":"Incorrect API key provided: sk-customer-secret"}}'),
    ],
    ["limits the rate", 502, "is rate-limiting us", (x) => x.respond(429, "application/json", "{}")],
    ["redirects", 502, "", (x) => x.respond(307, "text/plain", "")],
    ["answers garbage", 502, "gave an answer that cannot be read", whole("{oops")],
    ["answers JSON of another kind", 502, "gave an answer that cannot be read", whole('{"hello":"world"}')],
    [
      "answers with a web page",
      502,
      "gave an answer that cannot be read",
      (x) => x.respond(200, "text/html", "<h1>Oops</h1>"),
    ],
    ["answers nothing", 502, "", (x) => x.respond(200, "text/event-stream", "")],
    [
      "streams garbage",
      502,
      "gave an answer that cannot be read",
      (x) => x.respond(200, "text/event-stream", sse("{oops")),
    ],
    [
      "streams an error",
      502,
      "reported an error: Out of memory",
      (x) => x.respond(200, "text/event-stream", sse('{"error":{"message":"Out of memory"}}')),
    ],
    ["drops the connection", 502, "is unreachable", (x) => x.reset()],
    ["never answers", 504, "did not answer in time", () => {}],
  ];

  const cases = faults.flatMap(([fault, status, detail, script]) =>
    WAYS.map((way) => ({ ...way, fault, status, detail, script })),
  );
  test.each(cases)(
    "fails a $way turn when it $fault: the message is stored and the session continues",
    async ({ streaming, status, detail, script }) => {
      model.always(script);
      const answer = await chat({ streaming });
      model.always(null);
      expect(answer.status).toBe(status);
      expect(answer.body.detail).toStartWith("The CUSTOM_LLM model");
      expect(answer.body.detail).toContain(detail);
      expect(answer.body.detail).not.toContain("<h1>");
      expect(sessionOf(answer)).toMatch(UUID);
      await goesOn(sessionOf(answer), ["user: Hi"]);
    },
  );

  test.each(WAYS)("is down: a $way turn is 502 and the message is stored", async ({ streaming }) => {
    const [port] = await freePorts(1);
    const agent = await createAgent(api, { baseUrl: `http://127.0.0.1:${port}/v1` });
    const answer = await chat({ agent_id: agent, streaming });
    expect(answer.status).toBe(502);
    expect(answer.body).toEqual({ detail: "The CUSTOM_LLM model provider is unreachable" });
    const patched = await api.send("PATCH", `/agents/${agent}`, modelOf(model));
    expect(patched.status).toBe(200);
    await goesOn(sessionOf(answer), ["user: Hi"], agent);
  });
});

describe("a model that fails briefly", () => {
  const faults: [string, Script][] = [
    ["answers 503", (x) => x.respond(503, "text/html", "")],
    ["limits the rate", (x) => x.respond(429, "application/json", "{}", { "retry-after": "0" })],
    ["drops the connection", (x) => x.reset()],
    ["streams nothing", (x) => x.respond(200, "text/event-stream", "")],
  ];
  test.each(faults.flatMap(([fault, script]) => WAYS.map((way) => ({ ...way, fault, script }))))(
    "is retried: the client of a $way turn notices nothing when it $fault",
    async ({ streaming, script }) => {
      const before = model.requests.length;
      for (let time = 0; time < 2; time++) model.next(script);
      const answer = await chat({ streaming });
      expect(answer.status).toBe(200);
      expect(streaming ? answer.body : answer.body.response).toBe(echoOf("Hi"));
      expect(model.requests.length - before).toBe(3);
      await goesOn(sessionOf(answer), ["user: Hi", `assistant: ${echoOf("Hi")}`]);
    },
  );

  test.each([
    ["without", {}],
    ["with", { "Idempotency-Key": "told" }],
  ] as const)("has each failed attempt logged with the request's id, %s an idempotency key", async (_with, given) => {
    for (let time = 0; time < 2; time++) model.next((x) => x.respond(503, "text/html", "<h1>Oops</h1>"));
    const requestId = crypto.randomUUID();
    const headers = { "x-request-id": requestId, ...given };
    await api.post("/chat", { agent_id: agentId, message: "Hi" }, headers);
    const lines = await logLines("conversation", ({ request_id }) => request_id === requestId);
    const told = lines.filter(({ rpc }) => rpc === undefined);
    expect(told).toMatchObject(
      [1, 2].map((attempt) => ({ level: "warn", msg: "model failed", provider: "CUSTOM_LLM", attempt })),
    );
    expect(JSON.stringify(lines)).not.toContain("secret");
  });
});

describe("a model with a fallback", () => {
  const faults: [string, Script][] = [
    ["is broken", (x) => x.reset()],
    ["refuses the key", (x) => x.respond(401, "application/json", "{}")],
    ["asks for a long wait", (x) => x.respond(429, "application/json", "{}", { "retry-after": "3600" })],
    ["hangs", () => {}],
  ];
  const agentWithFallback = () =>
    createAgent(api, model, { llm: { ...llmOf(model), fallbacks: [{ ...llmOf(second), model_name: "second" }] } });

  test.each(faults.flatMap(([fault, script]) => WAYS.map((way) => ({ ...way, fault, script }))))(
    "is replaced by its fallback in a $way turn when it $fault, and is asked first again next time",
    async ({ streaming, script }) => {
      const agent = await agentWithFallback();
      model.always(script);
      const answer = await chat({ agent_id: agent, streaming });
      model.always(null);
      expect(answer.status).toBe(200);
      expect(streaming ? answer.body : answer.body.response).toBe(echoOf("Hi"));
      expect(second.requests.at(-1)?.body.model).toBe("second");
      const before = second.requests.length;
      await goesOn(sessionOf(answer), ["user: Hi", `assistant: ${echoOf("Hi")}`], agent);
      expect(second.requests.length).toBe(before);
    },
  );

  test.each(WAYS)(
    "that fails too gives a $way turn both failures, and the session continues",
    async ({ streaming }) => {
      const agent = await agentWithFallback();
      model.always((x) => x.respond(401, "application/json", "{}"));
      second.always((x) => x.respond(404, "application/json", "{}"));
      const answer = await chat({ agent_id: agent, streaming });
      for (const each of [model, second]) each.always(null);
      expect(answer.status).toBe(502);
      expect(answer.body.detail).toBe(
        "The CUSTOM_LLM model provider refused the API key; The CUSTOM_LLM model provider does not know the model or address",
      );
      await goesOn(sessionOf(answer), ["user: Hi"], agent);
    },
  );

  test.each(WAYS)(
    "is left out of a $way turn when its provider is not configured here; without a fallback the turn is refused",
    async ({ streaming }) => {
      const unconfigured = { provider_name: "OPENAI", model_name: "gpt-4.1-mini" };
      const fallbacks = [{ ...llmOf(second), model_name: "second" }];
      const agent = await createAgent(api, model, { llm: { ...unconfigured, fallbacks } });
      const answer = await chat({ agent_id: agent, streaming });
      expect(answer.status).toBe(200);
      expect(streaming ? answer.body : answer.body.response).toBe(echoOf("Hi"));
      expect(second.requests.at(-1)?.body.model).toBe("second");
      await goesOn(sessionOf(answer), ["user: Hi", `assistant: ${echoOf("Hi")}`], agent);

      const refused = await chat({ agent_id: await createAgent(api, model, { llm: unconfigured }), streaming });
      expect([refused.status, refused.body]).toEqual([
        400,
        { detail: "LLM provider OPENAI is not configured: the operator has to set OPENAI_API_KEY" },
      ]);
    },
  );

  test("is not replaced after its first word", async () => {
    const before = second.requests.length;
    const asked = model.next((exchange) => {
      exchange.text("One two thr");
      exchange.cutOff();
    });
    const agent_id = await agentWithFallback();
    // An immediate cut may reach the client with the headers, or before them.
    const broken = api.chat({ agent_id, message: "Count" }).then((response) => response.text());
    await expect(broken).rejects.toThrow();
    await asked;
    expect(second.requests.length).toBe(before);
  });
});

function modelOf({ baseUrl }: ScriptedModel) {
  const llm = {
    provider_name: "CUSTOM_LLM",
    model_name: "m",
    params: { base_url: baseUrl, api_key: "sk-another-key" },
  };
  return { body: JSON.stringify({ llm }), headers: { "content-type": "application/json" } };
}

describe("a model that fails in the middle of a streamed reply", () => {
  const faults: [string, (exchange: Exchange) => void][] = [
    ["stalls", () => {}],
    ["drops the connection", (exchange) => exchange.reset()],
    ["ends without an end", (exchange) => exchange.cutOff()],
  ];
  test.each(faults)("%s: the client sees a broken response, and the partial reply is stored", async (_fault, fail) => {
    const sessions: string[] = [];
    const breakOff: Script = async (exchange) => {
      exchange.text("One two thr");
      await eventually(async () => expect((await api.get("/chat/sessions")).body.data[0].message_count).toBe(1));
      fail(exchange);
    };
    const asked = model.next(breakOff);
    const response = await api.chat({ agent_id: agentId, message: "Count" });
    await asked;
    expect(response.status).toBe(200);
    sessions.push(sessionOf(response));
    await expect(response.text()).rejects.toThrow();

    model.next(breakOff);
    const raw = await rawChat(stack.url, stack.owners[0].apiKey, { agent_id: agentId, message: "Count" });
    expect(raw).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(raw).toContain("One two ");
    expect(isComplete(raw)).toBe(false);
    sessions.push(/x-session-id: (\S+)/i.exec(raw)?.[1] ?? "");

    for (const sessionId of sessions) await goesOn(sessionId, ["user: Count", "assistant: One two thr"]);
  });

  test("is one log line, named by the request", async () => {
    const asked = model.next((exchange) => exchange.text("One two"));
    const response = await api.chat({ agent_id: agentId, message: "Count" });
    (await asked).reset();
    await expect(response.text()).rejects.toThrow();
    const told = await logLines("gateway", ({ msg }) => msg === "reply broken off");
    const detail = expect.stringContaining("cut off its answer");
    expect(told.at(-1)).toMatchObject({
      level: "warn",
      request_id: response.headers.get("x-request-id"),
      owner_id: stack.owners[0].ownerId,
      err: { message: detail },
    });
  });

  test("a reply that ends well is complete to the last byte", async () => {
    const raw = await rawChat(stack.url, stack.owners[0].apiKey, { agent_id: agentId, message: "Count" });
    expect(isComplete(raw)).toBe(true);
  });
});

describe("a model that says what cannot be stored", () => {
  test.each([true, false])(
    "has its NUL characters removed, as sent and as stored (streaming %p)",
    async (streaming) => {
      model.next((exchange) => {
        for (const piece of ["On\0e ", "\0", "two\0"]) exchange.text(piece);
        exchange.finish();
      });
      const answer = await chat({ streaming });
      expect(streaming ? answer.body : answer.body.response).toBe("One two");
      await goesOn(sessionOf(answer), ["user: Hi", "assistant: One two"]);
    },
  );
});

describe("a client that leaves", () => {
  const ended = (sessionId: string, messages: string[]) =>
    eventually(async () => expect(await messagesOf(sessionId)).toEqual(messages));
  const cancelled = (exchange: Exchange) =>
    Promise.race([
      exchange.left,
      Bun.sleep(CANCELLED_WITHIN_MS).then(() => Promise.reject(new Error("not cancelled"))),
    ]);

  test("in the middle of a stream ends the model's call, and what was said is stored", async () => {
    const asked = model.next((exchange) => exchange.text("One two thr"));
    const leaving = new AbortController();
    const response = await api.chat({ agent_id: agentId, message: "Count" }, leaving.signal);
    const exchange = await asked;
    await response.body?.getReader().read();
    leaving.abort();
    await cancelled(exchange);
    await ended(sessionOf(response), ["user: Count", "assistant: One two thr"]);
    await goesOn(sessionOf(response), ["user: Count", "assistant: One two thr"]);
  });

  test.each([
    ["before the first word of a stream", true],
    ["during a whole turn", false],
  ])("%s (streaming %p) ends the model's call, and the session continues", async (_when, streaming) => {
    const { body } = await api.get(`/agents/${agentId}/first-message`);
    const asked = model.next();
    const leaving = new AbortController();
    const pending = api.chat(
      { agent_id: agentId, session_id: body.session_id, message: "Hi", streaming },
      leaving.signal,
    );
    pending.catch(() => {});
    const exchange = await asked;
    leaving.abort();
    await expect(pending).rejects.toThrow();
    await cancelled(exchange);
    const isFree = async () => {
      const answer = await chat({ session_id: body.session_id, message: "Again", streaming: false });
      expect(answer.status).toBe(200);
    };
    await eventually(isFree);
    expect(await messagesOf(body.session_id)).toEqual(["user: Hi", "user: Again", `assistant: ${echoOf("Again")}`]);
  });
});

describe("a second message while a reply is in progress", () => {
  test("is 409 and not stored; after the reply the session continues", async () => {
    const asked = model.next((exchange) => exchange.text("One "));
    const first = api.chat({ agent_id: agentId, message: "Count" });
    const exchange = await asked;
    exchange.text("two ");
    const response = await first;
    const sessionId = sessionOf(response);
    for (const streaming of [true, false]) {
      const answer = await chat({ session_id: sessionId, message: "Me too", streaming });
      expect({ status: answer.status, ...answer.body }).toEqual({
        status: 409,
        detail: "A reply is in progress in this session. Wait for it to end.",
      });
      expect(sessionOf(answer)).toBe(sessionId);
    }
    exchange.finish();
    expect(await response.text()).toBe("One two ");
    await goesOn(sessionId, ["user: Count", "assistant: One two "]);
  });

  test("is one of twenty concurrent ones, of which exactly one is answered", async () => {
    const { body } = await api.get(`/agents/${agentId}/first-message`);
    const asked = model.next();
    const turns = Array.from({ length: 20 }, (_, at) =>
      chat({ session_id: body.session_id, message: `${at}`, streaming: false }),
    );
    const exchange = await asked;
    let refused = 0;
    for (const turn of turns) void turn.then(({ status }) => status === 409 && refused++);
    await eventually(() => expect(refused).toBe(19));
    exchange.text("Done");
    exchange.finish();
    const statuses = (await Promise.all(turns)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(await messagesOf(body.session_id)).toHaveLength(2);
  });
});

describe("end_call", () => {
  const say = (body: object): Promise<Answer> => chat({ ...body });

  test("ends the session after its reply: COMPLETED, and a further message is 400", async () => {
    const agent = await createAgent(api, model, { tools: { end_call: true } });
    const asked = model.next((exchange) => {
      exchange.text("Good night.");
      exchange.toolCall("end_call", {});
      exchange.finish();
    });
    const answer = await answerOf(await api.chat({ agent_id: agent, message: "Bye" }));
    expect(answer.body).toBe("Good night.");
    expect((await asked).request.body.tools?.map((tool) => tool.function.name)).toEqual(["end_call"]);
    const { body } = await api.get(`/chat/sessions/${sessionOf(answer)}`);
    expect(body).toMatchObject({ status: "COMPLETED", message_count: 2, metadata: { session_status: "COMPLETED" } });
    const further = await say({ agent_id: agent, session_id: sessionOf(answer) });
    expect({ status: further.status, ...further.body }).toEqual({ status: 400, detail: "Session has ended" });
    expect(await messagesOf(sessionOf(answer))).toEqual(["user: Bye", "assistant: Good night."]);
  });

  test.each([true, false])("without text uses its own farewell or the agent's (streaming %p)", async (streaming) => {
    const agent = await createAgent(api, model, { tools: { end_call: { message: "Bye from the agent." } } });
    for (const [input, farewell] of [
      [{ message: "Bye from the model." }, "Bye from the model."],
      [{}, "Bye from the agent."],
    ] as const) {
      model.next((exchange) => {
        exchange.toolCall("end_call", input);
        exchange.finish();
      });
      const answer = await say({ agent_id: agent, streaming });
      expect(streaming ? answer.body : answer.body.response).toBe(farewell);
      expect((await api.get(`/chat/sessions/${sessionOf(answer)}`)).body.status).toBe("COMPLETED");
    }
  });

  test("is not offered to the model when the agent lacks the tool", async () => {
    await chat({ streaming: false });
    expect(model.requests.at(-1)?.body.tools).toBeUndefined();
  });
});

test("no process died during these tests", () => {
  expect(stack.pids()).toEqual(pids);
});
