import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import type { Api } from "../kit/api.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createOwner, createSession } from "../kit/test-owner.ts";
import { startTestStack, type TestStack } from "../kit/test-stack.ts";

let stack: TestStack;
let api: Api;
let agentId: string;
let receiver: Bun.Server<undefined>;
/** What a webhook destination got. */
const received: { event: string; payload: Record<string, unknown> }[] = [];

beforeAll(async () => {
  stack = await startTestStack();
  receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const form = await request.formData();
      received.push({ event: String(form.get("event")), payload: JSON.parse(String(form.get("payload"))) });
      return new Response();
    },
  });
  const owner = await createOwner(stack.accounts);
  api = stack.api(owner.apiKey);
  const manage = stack.manage(await createSession(stack.accounts, owner.ownerId));
  const url = `http://127.0.0.1:${receiver.port}/hook`;
  const made = await manage.post("/destinations", { name: "Ours", url, request_type: "POST" });
  expect(made.status).toBe(200);
  // The stand-in keeps to the schema it is asked by, and calls end_call when it is told goodbye.
  const model = { baseUrl: `http://${stack.address("model")}/v1` };
  agentId = await createAgent(api, model, {
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
});
afterAll(async () => {
  await receiver.stop(true);
  await stack.stop();
});

test("a chat that its model ends is analysed, field by field in the order they were written in, and its webhook carries what GET shows", async () => {
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
    conversation_type: "CHAT",
    conversation_status: "COMPLETED",
    notes: null,
    is_test_call: false,
    conversation_transcript: conversation.conversation_transcript,
    conversation_analysis: conversation.conversation_analysis,
  });
});
