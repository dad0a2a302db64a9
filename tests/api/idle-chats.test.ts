import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type Api, answerOf } from "../kit/api.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack, type TestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

let stack: TestStack;
let model: ScriptedModel;
let api: Api;
let agentId: string;
beforeAll(async () => {
  const env = { PARLEY_CHAT_IDLE_MINUTES: "0.02" };
  [stack, model] = await Promise.all([startTestStack({ env, without: BESIDES_CHATS }), startScriptedModel()]);
  api = stack.api(stack.owners[0].apiKey);
  agentId = await createAgent(api, model);
});
afterAll(async () => {
  await stack?.stop();
  await model?.stop();
});

const becomes = (sessionId: string, status: string) =>
  eventually(async () => {
    const session = await api.get(`/chat/sessions/${sessionId}`);
    expect(session.body).toMatchObject({ status, metadata: { session_status: status } });
    expect((await api.get(`/conversations/${sessionId}`)).body.conversation_status).toBe(status);
  });

test("a silent chat becomes COMPLETED when the user wrote, otherwise DISCONNECTED, and accepts no more messages", async () => {
  const written = await api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false });
  const greeted = await api.get(`/agents/${agentId}/first-message`);
  await becomes(written.body.session_id, "COMPLETED");
  await becomes(greeted.body.session_id, "DISCONNECTED");
  for (const session_id of [written.body.session_id, greeted.body.session_id]) {
    const answer = await api.post("/chat", { agent_id: agentId, session_id, message: "Hi" });
    expect({ status: answer.status, ...answer.body }).toEqual({ status: 400, detail: "Session has ended" });
  }
});

test("a chat with a reply that takes longer is not silent", async () => {
  const asked = model.next((exchange) => exchange.text("One two "));
  const response = await api.chat({ agent_id: agentId, message: "Count slowly" });
  const exchange = await asked;
  // A younger, silent chat shows that the time has passed.
  const younger = await api.get(`/agents/${agentId}/first-message`);
  await becomes(younger.body.session_id, "DISCONNECTED");
  exchange.text("three");
  exchange.finish();
  const reply = await answerOf(response);
  expect(reply.body).toBe("One two three");
  const sessionId = response.headers.get("x-session-id") ?? "";
  expect((await api.get(`/chat/sessions/${sessionId}`)).body.messages.at(-1).content).toBe("One two three");
  await becomes(sessionId, "COMPLETED");
});
