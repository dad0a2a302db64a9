import { afterAll, expect, test } from "bun:test";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createKey, createOwner, createSession } from "../kit/test-owner.ts";

const stack = await sharedStack();
afterAll(() => stack.stop());
const owner = await createOwner(stack.accounts);
const api = stack.api(owner.apiKey);
const session = stack.manage(await createSession(stack, owner.ownerId));
const model = { baseUrl: `http://${stack.address("model")}/v1` };

const send = (method: string, path: string, body: object) =>
  api.send(method, path, { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
/** An agent with two versions, the second of which is published. */
async function newAgent(): Promise<string> {
  const id = await createAgent(api, model, { prompt_content: "You answer calls.\nBe brief.\n" });
  const second = { prompt_content: "You answer calls.\nBe kind.\n", version_note: "Kinder." };
  expect((await send("PATCH", `/agents/${id}`, second)).status).toBe(200);
  return id;
}

test("versions are listed newest first with who made them and why, which is published, and the figures of their conversations", async () => {
  const id = await newAgent();
  expect((await send("POST", "/chat", { agent_id: id, message: "Hello" })).status).toBe(200);
  const { status, body } = await api.get(`/agents/${id}/versions`);
  expect({ status, total: body.total }).toEqual({ status: 200, total: 2 });
  expect(body.versions).toMatchObject([
    { agent_version: 2, note: "Kinder.", published: true, weight: 100, figures: { conversations: 1, replies: 1 } },
    { agent_version: 1, note: null, published: false, weight: 0, figures: { conversations: 0, replies: 0 } },
  ]);
  expect(body.versions[0].created_by).toStartWith("key:");
  expect(body.versions[0].figures).not.toHaveProperty("cost_usd_micros");
  const before = await api.get(`/agents/${id}/versions?from=2020-01-01&to=2020-01-31&include=cost&page_size=1`);
  expect(before.body.versions).toMatchObject([{ figures: { conversations: 0, cost_usd_micros: 0 } }]);
});

test("a version shows its agent with prompt and tools as they were, and a diff shows what changed with keys masked", async () => {
  const id = await newAgent();
  const made = await api.post("/tools", {
    ...{ name: "get_order", description: "Gets an order.", type: "http", method: "GET" },
    url: "https://shop.example/orders",
  });
  await send("PATCH", `/agents/${id}`, { custom_tools: [{ tool_id: made.body.id }], agent_description: "Answers." });
  const first = (await api.get(`/agents/${id}/versions/1`)).body;
  expect(first).toMatchObject({
    agent_version: 1,
    agent: { id, prompt: { prompt_content: "You answer calls.\nBe brief.\n" } },
  });
  expect(first.tools).toEqual([]);
  const { body } = await api.get(`/agents/${id}/versions/1/diff/3`);
  expect(body).toMatchObject({ from: 1, to: 3 });
  expect(body.changes).toContainEqual({ field: "agent_description", from: null, to: "Answers." });
  expect(body.changes).toContainEqual({
    field: "prompt.prompt_content",
    from: "You answer calls.\nBe brief.\n",
    to: "You answer calls.\nBe kind.\n",
    diff: "--- version 1\n+++ version 3\n@@ -1,2 +1,2 @@\n You answer calls.\n-Be brief.\n+Be kind.\n",
  });
  expect(body.changes.map(({ field }: { field: string }) => field)).toContain("custom_tools.get_order");
  expect(JSON.stringify(body)).not.toContain("sk-scripted");
  expect((await api.get(`/agents/${id}/versions/2/diff/2`)).body.changes).toEqual([]);
});

test("publishing an older version rolls back, becomes manual, and stands in the publish log with its note", async () => {
  const id = await newAgent();
  const { status, body } = await send("POST", `/agents/${id}/versions/1/publish`, { note: "Too kind." });
  expect({ status, ...body }).toMatchObject({
    status: 200,
    publish: { kind: "rollback", agent_version: 1, note: "Too kind.", override_reason: null },
    publishing: "manual",
    became_manual: true,
  });
  const log = (await api.get(`/agents/${id}/publishes?page_size=1`)).body;
  expect(log.publishes).toEqual([body.publish]);
  expect(log.total).toBe(body.publish.number);
  expect((await api.get(`/agents/${id}/traffic`)).body).toEqual({ split: [{ agent_version: 1, weight: 100 }] });
});

test("traffic is split between versions, whose weights lists show, until one is published", async () => {
  const id = await newAgent();
  const split = [
    { agent_version: 2, weight: 90 },
    { agent_version: 1, weight: 10 },
  ];
  expect((await send("PUT", `/agents/${id}/traffic`, { split })).body.publish).toMatchObject({
    kind: "traffic",
    split,
  });
  expect((await api.get(`/agents/${id}/traffic`)).body).toEqual({ split });
  const { versions } = (await api.get(`/agents/${id}/versions`)).body;
  expect(versions.map(({ weight }: { weight: number }) => weight)).toEqual([90, 10]);
  expect((await api.post(`/agents/${id}/versions/2/publish`, {})).status).toBe(200);
  expect((await api.get(`/agents/${id}/traffic`)).body).toEqual({ split: [{ agent_version: 2, weight: 100 }] });
  const wrong = await send("PUT", `/agents/${id}/traffic`, { split: [{ agent_version: 2, weight: 90 }] });
  expect(wrong.status).toBe(422);
});

test("only a session, and a key with agents:override by name, may override, and the log says why", async () => {
  const id = await newAgent();
  const path = `/agents/${id}/versions/2/publish`;
  const override = { override: { reason: "The test server is down." } };
  const refused = await send("POST", path, override);
  const detail = "The API key lacks the scope agents:override, which * does not include";
  expect([refused.status, refused.body.detail]).toEqual([403, detail]);
  const split = [{ agent_version: 2, weight: 100 }];
  expect((await send("PUT", `/agents/${id}/traffic`, { split, ...override })).status).toBe(403);
  const named = await createKey(stack.accounts, owner.ownerId, { scopes: ["agents:write", "agents:override"] });
  const published = await stack.api(named.apiKey).post(path, override);
  expect([published.status, published.body.publish?.override_reason]).toEqual([200, "The test server is down."]);
  expect((await session.post(`//v1/public${path}`, override)).status).toBe(200);
});

test("two versions are compared, with chats that asked for one by number, and too few conversations tell nothing", async () => {
  const id = await newAgent();
  await send("POST", "/chat", { agent_id: id, message: "Hello" });
  await send("POST", "/chat", { agent_id: id, message: "Hello", agent_version: 1 });
  const { status, body } = await api.get(`/agents/${id}/versions/1/compare/2`);
  const began = [body.a.figures.conversations, body.b.figures.conversations];
  expect({ status, a: body.a.agent_version, began }).toEqual({ status: 200, a: 1, began: [1, 1] });
  const failures = { figure: "tool_failures", difference: null, low: null, high: null, verdict: "too_few" };
  expect(body.differences).toContainEqual(failures);
  expect(body.differences.map(({ figure }: { figure: string }) => figure)).not.toContain("cost_usd_micros");
});

test("a version that there is not is 404, whatever is asked of it", async () => {
  const id = await newAgent();
  for (const path of ["versions/3", "versions/0", "versions/first", "versions/1/diff/3", "versions/3/compare/1"]) {
    const { status, body } = await api.get(`/agents/${id}/${path}`);
    expect([path, status, body]).toEqual([path, 404, { detail: "Agent version not found" }]);
  }
  expect((await send("POST", `/agents/${id}/versions/3/publish`, {})).status).toBe(404);
});

test("a replay takes the conversations with a status, needs its version, and a maximum unless it names the conversations", async () => {
  const id = await newAgent();
  const { session_id } = (await send("POST", "/chat", { agent_id: id, message: "Hello", streaming: false })).body;
  const replay = (body: object) => send("POST", `/agents/${id}/replays`, body);
  const latest = { agent_version: "latest" };
  for (const [body, path, message] of [
    [{ max: 1 }, "agent_version", "agent_version is required"],
    [latest, "max", "max is required without conversations.conversation_ids"],
    [
      { ...latest, max: 1, conversations: { conversation_status: "FAILED" } },
      "conversations",
      "The agent has no conversation that matches",
    ],
  ] as const)
    expect(await replay(body)).toMatchObject({ status: 422, body: { errors: [{ path, message }] } });
  for (const body of [
    { max: 5, conversations: { conversation_status: "IN_PROGRESS" } },
    { conversations: { conversation_ids: [session_id] } },
  ]) {
    const replayed = await replay({ ...latest, ...body });
    const [result] = replayed.body.results;
    expect([replayed.status, result?.conversation_id]).toEqual([200, session_id]);
  }
});
