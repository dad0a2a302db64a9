import { describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { isComplete, rawChat } from "../kit/raw-chat.ts";
import { type Exchange, echoOf, type Script } from "../kit/scripted-model.ts";
import { agentId, api, model, stack } from "./chat-stack.ts";

const UUID = /^[0-9a-f-]{36}$/;

const pids = stack.pids();

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
});

describe("a model that fails briefly", () => {
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
    // The client learns of it before it is logged.
    const requestId = response.headers.get("x-request-id");
    const isOfReply = (line: Record<string, unknown>) =>
      line.request_id === requestId && line.msg === "reply broken off";
    const err = { message: expect.stringContaining("cut off its answer") };
    const line = { level: "warn", owner_id: stack.owners[0].ownerId, err };
    await eventually(async () => expect(await logLines("gateway", isOfReply)).toMatchObject([line]));
  });

  test("a reply that ends well is complete to the last byte", async () => {
    const raw = await rawChat(stack.url, stack.owners[0].apiKey, { agent_id: agentId, message: "Count" });
    expect(isComplete(raw)).toBe(true);
  });
});

describe("a client that leaves", () => {
  const ended = (sessionId: string, messages: string[]) =>
    eventually(async () => expect(await messagesOf(sessionId)).toEqual(messages));
  /** The model's calls so far that ended because their client had left, and not because the model had stalled. */
  const callsLeft = async () => {
    const counted = /^gen_ai_client_operation_duration_count\{.*outcome="left"\} (\d+)$/gm;
    const counts = (await stack.metrics("conversation")).matchAll(counted);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const cancelled = async (exchange: Exchange, before: number) => {
    await exchange.left;
    await eventually(async () => expect(await callsLeft()).toBe(before + 1));
  };

  test("in the middle of a stream ends the model's call, and what was said is stored", async () => {
    const before = await callsLeft();
    const asked = model.next((exchange) => exchange.text("One two thr"));
    const leaving = new AbortController();
    const response = await api.chat({ agent_id: agentId, message: "Count" }, leaving.signal);
    const exchange = await asked;
    await response.body?.getReader().read();
    leaving.abort();
    await cancelled(exchange, before);
    await ended(sessionOf(response), ["user: Count", "assistant: One two thr"]);
    await goesOn(sessionOf(response), ["user: Count", "assistant: One two thr"]);
  });

  test.each([
    ["before the first word of a stream", true],
    ["during a whole turn", false],
  ])("%s (streaming %p) ends the model's call, and the session continues", async (_when, streaming) => {
    const before = await callsLeft();
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
    await cancelled(exchange, before);
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
});

test("no process died during these tests", () => {
  expect(stack.pids()).toEqual(pids);
});
