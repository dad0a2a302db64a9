import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import type { Api } from "../kit/api.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, createSession } from "../kit/test-owner.ts";

/** The requests that a webhook destination received. */
const received: { event: string; payload: Record<string, unknown> }[] = [];

const stack = await sharedStack();
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const form = await request.formData();
    received.push({ event: String(form.get("event")), payload: JSON.parse(String(form.get("payload"))) });
    return new Response();
  },
});
const owner = await createOwner(stack.accounts);
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
const url = `http://127.0.0.1:${receiver.port}/hook`;
const made = await manage.post("/destinations", { name: "Ours", url, request_type: "POST" });
expect(made.status).toBe(200);
// The stand-in follows the requested schema, and calls end_call when the user says goodbye.
const model = { baseUrl: `http://${stack.address("model")}/v1` };
const agentId = await createAgent(api, model, {
  tools: { end_call: true },
  call_analysis_enabled: true,
  call_analysis_prompt: { custom_prompt: "What became of it?" },
  call_analysis_schema: {
    "Customer mood": { type: 'Literal["calm","angry"]' },
    calls: { type: "int" },
    facts: { type: "dict" },
    notes: { type: "Optional[list[str]]" },
    rating: { type: "float" },
    solved: { type: "bool" },
    summary: { type: "str" },
  },
});
afterAll(async () => {
  await receiver.stop(true);
  await stack.stop();
});

test("a chat that its model ends is analyzed, with fields in schema order, and its webhook carries what GET shows", async () => {
  const { body } = await api.post("/chat", { agent_id: agentId, message: "Thank you, goodbye!", streaming: false });
  const conversation = await eventually(async () => {
    const { body: found } = await api.get(`/conversations/${body.session_id}`);
    expect(found.conversation_analysis).not.toBeNull();
    return found;
  });
  expect(conversation.conversation_status).toBe("COMPLETED");
  expect(conversation.conversation_analysis).toEqual([
    { name: "Customer mood", value: "calm", type: 'Literal["calm","angry"]' },
    { name: "calls", value: expect.any(Number), type: "int" },
    { name: "facts", value: expect.any(Object), type: "dict" },
    { name: "notes", value: [expect.any(String)], type: "Optional[list[str]]" },
    { name: "rating", value: expect.any(Number), type: "float" },
    { name: "solved", value: true, type: "bool" },
    { name: "summary", value: expect.any(String), type: "str" },
  ]);
  const { body: shown } = await api.get(`/conversations/${body.session_id}?include=replies`);
  const transcript = shown.conversation_transcript.map(({ reply: _, ...message }: { reply?: unknown }) => message);
  const { event, payload } = await eventually(() => {
    const [first] = received;
    if (!first) throw new Error("no webhook came");
    return first;
  });
  expect(event).toBe("conversation.completed");
  expect(payload).toEqual({
    event,
    id: conversation.id,
    conversation_id: body.session_id,
    agent_id: agentId,
    agent_version: 1,
    last_agent_id: agentId,
    conversation_type: "CHAT",
    conversation_status: "COMPLETED",
    notes: null,
    is_test_call: false,
    conversation_transcript: transcript,
    conversation_analysis: conversation.conversation_analysis,
  });
});

describe("a manually requested analysis", () => {
  const chat = (message: string) => api.post("/chat", { agent_id: agentId, message, streaming: false });
  const analyze = (id: string, as: Api = api, headers = {}) =>
    as.send("POST", `/conversations/${id}/analysis`, { headers });
  const fieldsOf = async (id: string): Promise<string[]> => {
    const { body } = await api.get(`/conversations/${id}`);
    return (body.conversation_analysis ?? []).map(({ name }: { name: string }) => name);
  };
  let endedId: string;
  beforeAll(async () => {
    endedId = (await chat("Thank you, goodbye!")).body.session_id;
    await eventually(async () => expect(await fieldsOf(endedId)).toContain("solved"));
    const { status } = await api.send("PATCH", `/agents/${agentId}`, {
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ call_analysis_schema: { verdict: { type: "str" } } }),
    });
    expect(status).toBe(200);
  });

  test("is answered at once, uses the newest settings of the agent, and is not started again by a repeat with its key", async () => {
    const key = { "idempotency-key": newUuid() };
    const answer = await analyze(endedId, api, key);
    expect([answer.status, answer.body]).toEqual([200, { conversation_id: endedId, message: "Analysis started" }]);
    await eventually(async () => expect(await fieldsOf(endedId)).toEqual(["verdict"]));
    const { updated_at } = (await api.get(`/conversations/${endedId}`)).body;
    const repeated = await analyze(endedId, api, key);
    expect([repeated.status, repeated.body]).toEqual([200, answer.body]);
    expect(repeated.headers.get("idempotent-replayed")).toBe("true");
    expect((await analyze(newUuid(), api, key)).status).toBe(422);
    expect((await api.get(`/conversations/${endedId}`)).body.updated_at).toBe(updated_at);
    const sent = () => received.filter(({ payload }) => payload.conversation_id === endedId);
    await eventually(() => expect(sent()).toHaveLength(1));
  });
});
