import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { Api } from "../kit/api.ts";
import { allEvents, chatEvents, joined } from "../kit/events/chat-events.ts";
import { type Exchange, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const [api, stranger] = stack.owners.map(({ apiKey }) => stack.api(apiKey)) as [Api, Api];
afterAll(async () => {
  await stack.stop();
  await model.stop();
});
beforeEach(() => model.always(null));

const SEAT = { name: "seat", schema: { type: "string" }, required: true };
const agentId = await agentWith(api, [
  { name: "show_seats", parameters: [SEAT, { name: "plan", variable: "plan" }, { name: "unit", constant: "m" }] },
  { name: "go_to", wait: false, parameters: [SEAT] },
]);

async function agentWith(as: Api, tools: readonly object[]): Promise<string> {
  const made = await Promise.all(tools.map((tool) => as.post("/tools", { type: "client", description: "d", ...tool })));
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
  return createAgent(as, model, {
    custom_tools: made.map(({ body }) => ({ tool_id: body.id })),
    tools: { set_language: true, end_call: true },
  });
}

type Call = [name: string, input: object];

/** The model's next answer: words, and then calls. */
const says =
  (text: string, ...calls: Call[]) =>
  (exchange: Exchange) => {
    if (text !== "") exchange.text(text);
    for (const call of calls) exchange.toolCall(...call);
    exchange.finish();
  };
const told = () => model.requests.at(-1)?.body.messages ?? [];
const results = () => told().flatMap(({ role, content }) => (role === "tool" ? [content] : []));

const TURN = { agent_id: agentId, client_tools: true, streaming: false };
const ask = (message: string, more: object = {}, headers = {}) =>
  api.post("/chat", { ...TURN, message, ...more }, headers);
const give = (session_id: string, tool_results: readonly object[], more: object = {}, headers = {}) =>
  api.post("/chat", { ...TURN, session_id, tool_results, ...more }, headers);

/** A session whose model waits for these calls. */
async function waiting(...calls: Call[]) {
  model.next(says("", ...calls));
  const { status, body } = await ask("Seats?");
  expect(status).toBe(200);
  const ids: string[] = body.tool_calls.map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id);
  return { session: body.session_id as string, ids, calls: body.tool_calls };
}

async function shown(session: string) {
  const { body } = await api.get(`/chat/sessions/${session}?include=replies`);
  const calls = body.messages.flatMap(({ tool_calls = [] }) => tool_calls);
  return {
    messages: body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`),
    states: calls.map(({ name, status }: { name: string; status: string }) => `${name} ${status}`),
    calls,
  };
}

const ID = expect.stringMatching(/^tcl_[0-9a-z]{26}$/);
const UNAVAILABLE = "not available on this channel";

describe("a call that the client makes", () => {
  test("ends the turn, and its result goes on with the same one", async () => {
    model.next(says("Let me look.", ["show_seats", { seat: "14C" }]));
    const first = await ask("Seats?", { metadata: { dynamic_variables: { plan: "A320" } } });
    const { session_id } = first.body;
    expect(first.body).toEqual({
      response: "Let me look. ",
      session_id,
      tool_calls: [
        {
          tool_call_id: ID,
          name: "show_seats",
          arguments: { seat: "14C", plan: "A320", unit: "m" },
          wait: true,
          timeout_ms: 20_000,
        },
      ],
    });
    const [{ tool_call_id }] = first.body.tool_calls;
    model.next(says("14C is yours."));
    const second = await give(session_id, [{ tool_call_id, result: { free: true } }]);
    expect(second.body).toEqual({ response: "14C is yours.", session_id });
    expect(told().map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(results()[0]).toContain('{"free":true}');
    const { messages, calls } = await shown(session_id);
    expect(messages).toEqual(["user: Seats?", "assistant: Let me look. ", "assistant: 14C is yours."]);
    expect(calls).toMatchObject([
      { tool_call_id, arguments: '{"seat":"14C"}', result: '{"free":true}', status: "SUCCEEDED", attempts: 1 },
    ]);
    await ask("Thanks", { session_id });
    expect(told().map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant", "user"]);
  });

  test("may be answered with an error, which the model is told", async () => {
    const { session, ids } = await waiting(["show_seats", { seat: "14C" }]);
    await give(session, [{ tool_call_id: ids[0], error: "The plan is closed" }]);
    expect(results()[0]).toContain("The plan is closed");
    expect((await shown(session)).states).toEqual(["show_seats FAILED"]);
  });

  test("waits for all results of its round, in any order, and each is given once", async () => {
    const { session, ids } = await waiting(["show_seats", { seat: "1A" }], ["show_seats", { seat: "2B" }]);
    const asked = model.requests.length;
    const later = await give(session, [{ tool_call_id: ids[1], result: "second" }]);
    expect([later.status, later.body]).toEqual([200, { response: "", session_id: session }]);
    expect(model.requests).toHaveLength(asked);
    model.next(says("Both."));
    const both = await give(session, [
      { tool_call_id: ids[1], result: "changed" },
      { tool_call_id: ids[0], result: "first" },
    ]);
    expect(both.body).toEqual({ response: "Both.", session_id: session });
    expect(results()).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
    const repeated = await give(session, [{ tool_call_id: ids[0], result: "again" }]);
    expect([repeated.status, repeated.body]).toEqual([200, { response: "", session_id: session }]);
    expect(model.requests).toHaveLength(asked + 1);
    expect((await shown(session)).messages).toEqual(["user: Seats?", "assistant: ", "assistant: Both."]);
  });

  test("may be followed by further ones in the same turn, eight requests of the model at most", async () => {
    const { session, ids: first } = await waiting(["show_seats", { seat: "1A" }]);
    let ids = first;
    for (let round = 2; round <= 8; round++) {
      model.next(says("", ["show_seats", { seat: `${round}A` }]));
      const { body } = await give(session, [{ tool_call_id: ids[0], result: "taken" }]);
      ids = body.tool_calls.map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id);
    }
    model.next(says("No seat is free."));
    const last = await give(session, [{ tool_call_id: ids[0], result: "taken" }]);
    expect(last.body).toEqual({ response: "No seat is free.", session_id: session });
    expect(model.requests.at(-1)?.body.tools).toBeUndefined();
    expect(results()).toHaveLength(8);
  });

  test("without `wait` is over at once, and the reply goes on", async () => {
    model.next(says("", ["go_to", { seat: "14C" }]));
    model.next(says("There you are."));
    const { body } = await ask("Show me");
    expect(body).toEqual({
      response: "There you are.",
      session_id: body.session_id,
      tool_calls: [{ tool_call_id: ID, name: "go_to", arguments: { seat: "14C" }, wait: false }],
    });
    expect((await shown(body.session_id)).states).toEqual(["go_to SUCCEEDED"]);
    const given = await give(body.session_id, [{ tool_call_id: body.tool_calls[0].tool_call_id, result: "late" }]);
    expect([given.status, given.body.response]).toEqual([200, ""]);
  });

  test("is closed with an error when the user writes on, and a result for it is then ignored", async () => {
    const { session, ids } = await waiting(["show_seats", { seat: "14C" }]);
    const { body } = await ask("Never mind", { session_id: session });
    expect(body.response).toBe("You said: Never mind");
    expect(results()).toEqual([expect.stringContaining("The user wrote again before the client gave a result.")]);
    expect((await shown(session)).states).toEqual(["show_seats FAILED"]);
    const late = await give(session, [{ tool_call_id: ids[0], result: "late" }]);
    expect([late.status, late.body.response]).toEqual([200, ""]);
  });

  test("has a result of at most 32 KiB for the model", async () => {
    const { session, ids } = await waiting(["show_seats", { seat: "14C" }]);
    await give(session, [{ tool_call_id: ids[0], result: "x".repeat(40 * 1024) }]);
    const { calls } = await shown(session);
    expect([calls[0].result.length, calls[0].is_cut]).toEqual([32 * 1024, true]);
  });
});

describe("where nobody can make the call, the model is told so:", () => {
  const hears = async (send: () => Promise<unknown>) => {
    model.next(says("", ["show_seats", { seat: "14C" }]));
    await send();
    expect(results()).toEqual([UNAVAILABLE]);
  };

  test("in a reply as plain text", async () => {
    await hears(async () => (await api.chat({ ...TURN, message: "Seats?", streaming: true })).text());
  });

  test("in a request without `client_tools`", () => hears(() => ask("Seats?", { client_tools: false })));
});

describe("a reply as server-sent events", () => {
  const EVENTS = { accept: "text/event-stream" };
  const listen = (body: object, headers = {}, signal?: AbortSignal) =>
    api.chat({ agent_id: agentId, client_tools: true, ...body }, signal, { ...EVENTS, ...headers });

  test("tells the session, words, and what the client has to do, in order", async () => {
    model.next(says("One moment.", ["set_language", { language: "de" }], ["show_seats", { seat: "14C" }]));
    const response = await listen({ message: "Seats?" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const events = joined(await allEvents(response));
    const session_id = response.headers.get("x-session-id");
    const [, , language, , seats] = events.map(({ data }) => data);
    expect(events).toEqual([
      { event: "started", data: { session_id } },
      { event: "text", data: { text: "One moment. " } },
      { event: "tool_call", data: { tool_call_id: ID, name: "set_language", arguments: { language: "de" } } },
      {
        event: "tool_result",
        data: { tool_call_id: language.tool_call_id, result: expect.stringContaining("German"), is_error: false },
      },
      { event: "tool_call", data: { tool_call_id: ID, name: "show_seats", arguments: { seat: "14C", unit: "m" } } },
      { event: "done", data: { session_id, tool_calls: [{ ...seats, wait: true, timeout_ms: 20_000 }] } },
    ]);
    model.next(says("14C is yours."));
    const tool_results = [{ tool_call_id: seats.tool_call_id, result: "free" }];
    expect(joined(await allEvents(await listen({ session_id, tool_results })))).toEqual([
      { event: "started", data: { session_id } },
      { event: "text", data: { text: "14C is yours." } },
      { event: "done", data: { session_id } },
    ]);
  });

  test("has the words of a reply as plain text", async () => {
    const message = "What a day.\nIs it not? ".repeat(50).trim();
    const events = joined(await allEvents(await listen({ message })));
    const text = await (await api.chat({ agent_id: agentId, message })).text();
    expect(events.map(({ event }) => event)).toEqual(["started", "text", "done"]);
    expect(events[1]?.data.text).toBe(text);
  });

  test("ends with an error if the model fails after the turn began, and with no `done`", async () => {
    model.always((exchange) => exchange.respond(401, "application/json", "{}"));
    const response = await listen({ message: "Hi" });
    expect(await allEvents(response)).toEqual([
      { event: "started", data: { session_id: response.headers.get("x-session-id") } },
      { event: "error", data: { detail: expect.stringMatching(/^The CUSTOM_LLM model provider/) } },
    ]);
  });

  test("is refused before its turn begins like any request", async () => {
    const response = await listen({ message: "Hi", session_id: Bun.randomUUIDv7() });
    expect([response.status, await response.json()]).toEqual([404, { detail: "Session not found" }]);
  });

  test.each([
    [{ accept: "text/event-stream;q=0, */*" }, {}, "text/plain; charset=utf-8"],
    [{ accept: "*/*" }, {}, "text/plain; charset=utf-8"],
    [{ accept: "application/json, Text/Event-Stream;q=0.5" }, {}, "text/event-stream; charset=utf-8"],
    [{}, { streaming: false }, "application/json; charset=utf-8"],
  ])("comes only if it is asked for: %j with %j is %s", async (headers, body, type) => {
    const response = await listen({ message: "Hi", ...body }, headers);
    expect(response.headers.get("content-type")).toBe(type);
    await response.text();
  });

  test("is replayed for an idempotency key with its calls, which the client is not given twice as new ones", async () => {
    const key = { "idempotency-key": Bun.randomUUIDv7() };
    model.next(says("Let me look.", ["show_seats", { seat: "14C" }]));
    const first = joined(await allEvents(await listen({ message: "Seats?" }, key)));
    const again = await listen({ message: "Seats?" }, key);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const calls = first.at(-1)?.data.tool_calls;
    expect(joined(await allEvents(again))).toEqual([first[0], first[1], first.at(-1)] as typeof first);
    const { states } = await shown(first[0]?.data.session_id);
    expect(states).toEqual(["show_seats RUNNING"]);

    const result = {
      session_id: first[0]?.data.session_id,
      tool_results: [{ tool_call_id: calls[0].tool_call_id, result: 1 }],
    };
    const resultKey = { "idempotency-key": Bun.randomUUIDv7() };
    model.next(says("14C is yours."));
    const gone = await allEvents(await listen(result, resultKey));
    const asked = model.requests.length;
    expect(joined(await allEvents(await listen(result, resultKey)))).toEqual(joined(gone));
    expect(model.requests).toHaveLength(asked);
  });

  test("that its client leaves while a call waits goes on with the result", async () => {
    model.next(says("", ["show_seats", { seat: "14C" }]));
    const gone = new AbortController();
    const events = chatEvents(await listen({ message: "Seats?" }, {}, gone.signal));
    let called: { tool_call_id: string } | undefined;
    let session_id = "";
    for await (const { event, data } of events) {
      if (event === "started") session_id = data.session_id;
      if (event === "tool_call") called = data;
      if (event === "tool_call") break;
    }
    gone.abort();
    model.next(says("14C is yours."));
    await eventually(async () => {
      const { status, body } = await give(session_id, [{ tool_call_id: called?.tool_call_id, result: "free" }]);
      expect([status, body.response]).toEqual([200, "14C is yours."]);
    });
    expect(results()[0]).toContain("free");
  });
});

test("partial results with an idempotency key have an empty reply, and a repeat of them too", async () => {
  const { session, ids } = await waiting(["show_seats", { seat: "1A" }], ["show_seats", { seat: "2B" }]);
  const key = { "idempotency-key": Bun.randomUUIDv7() };
  for (const replayed of [null, "true"]) {
    const { status, body, headers } = await give(session, [{ tool_call_id: ids[0], result: "free" }], {}, key);
    expect([status, body]).toEqual([200, { response: "", session_id: session }]);
    expect(headers.get("idempotent-replayed")).toBe(replayed);
  }
});

test("a result whose model fails can be given again, and the reply goes on", async () => {
  const { session, ids } = await waiting(["show_seats", { seat: "14C" }]);
  model.next((exchange) => exchange.respond(400, "application/json", "{}"));
  expect((await give(session, [{ tool_call_id: ids[0], result: "free" }])).status).toBe(502);
  model.next(says("14C is yours."));
  expect((await give(session, [{ tool_call_id: ids[0], result: "changed" }])).body.response).toBe("14C is yours.");
  expect(results()[0]).toContain("free");
});

test("owners cannot answer each other's calls", async () => {
  const { session, ids } = await waiting(["show_seats", { seat: "14C" }]);
  const strangers = await agentWith(stranger, [{ name: "show_seats", parameters: [SEAT] }]);
  const tool_results = [{ tool_call_id: ids[0], result: "mine" }];
  const as = (body: object) => stranger.post("/chat", { ...TURN, tool_results, ...body });
  expect((await as({ session_id: session })).status).toBe(403);
  expect((await as({ session_id: session, agent_id: strangers })).status).toBe(403);
  const own = await stranger.post("/chat", { ...TURN, agent_id: strangers, message: "Hi" });
  const { status, body } = await as({ session_id: own.body.session_id, agent_id: strangers });
  expect([status, body.detail]).toEqual([
    422,
    "tool_results.0.tool_call_id names no call that this session's client makes",
  ]);
  expect((await shown(session)).states).toEqual(["show_seats RUNNING"]);
});
