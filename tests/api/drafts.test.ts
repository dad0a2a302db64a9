import { afterAll, expect, test } from "bun:test";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const [owner] = stack.owners;
const signedIn = stack.manage(await createSession(stack, owner.ownerId));
const api = stack.api(owner.apiKey);
const agentId = await createAgent(api, model);
afterAll(() => Promise.all([stack.stop(), model.stop()]));

const draft = { prompt_content: "Be long." };

test("a signed-in owner chats with unsaved changes, and the conversation is marked as a test", async () => {
  const request = { agent_id: agentId, message: "Hi", streaming: false, draft };
  const { status, body } = await signedIn.post("//v1/public/chat", request);
  expect(status).toBe(200);
  const { body: conversation } = await signedIn.get(`//v1/public/conversations/${body.session_id}`);
  expect(conversation.conversation_metadata).toMatchObject({ is_test_call: true });
  const { body: agent } = await signedIn.get(`//v1/public/agents/${agentId}`);
  expect(agent.prompt.prompt_content).toBe("Be brief.");
});

test("a version is tried as it is, published or not, in a test that counts in none of its figures", async () => {
  const id = await createAgent(api, model, { publishing: "manual", first_message_prompt: "One." });
  const later = JSON.stringify({ first_message_prompt: "Two." });
  await api.send("PATCH", `/agents/${id}`, { body: later, headers: { "content-type": "application/json" } });
  const greetings = [];
  for (const agent_version of [1, 2, "latest"]) {
    const begun = await signedIn.post("//v1/manage/test-chats", { agent_id: id, agent_version });
    greetings.push(begun.body.first_message);
    const { session_id } = begun.body;
    const said = { agent_id: id, agent_version, session_id, message: "Hi", streaming: false, draft: {} };
    expect((await signedIn.post("//v1/public/chat", said)).status).toBe(200);
    expect((await signedIn.post("//v1/public/web-calls", { agent_id: id, agent_version, draft: {} })).status).toBe(200);
    const { body: kept } = await api.get(`/conversations/${session_id}`);
    expect(kept).toMatchObject({ agent_version: null, conversation_metadata: { is_test_call: true } });
  }
  expect(greetings).toEqual(["One.", "Two.", "Two."]);
  const { versions } = (await api.get(`/agents/${id}/versions`)).body;
  expect(versions).toMatchObject([{ figures: { conversations: 0 } }, { figures: { conversations: 0 } }]);
  const request = { agent_id: id, message: "Hi", draft: {} };
  for (const [agent_version, status, detail] of [
    [3, 404, "Agent version not found"],
    ["published", 409, "Agent has no published version"],
  ] as const)
    expect(await signedIn.post("//v1/public/chat", { ...request, agent_version })).toMatchObject({
      status,
      body: { detail },
    });
});

test("a signed-in owner gets a web call that tries unsaved changes", async () => {
  const { status, body } = await signedIn.post("//v1/public/web-calls", { agent_id: agentId, draft });
  expect({ status, token: typeof body.token }).toEqual({ status: 200, token: "string" });
});

test.each(["chat", "web-calls"])("an API key cannot try a draft by POST /%s", async (route) => {
  const [owner] = stack.owners;
  const answer = await stack.api(owner.apiKey).post(`/${route}`, { agent_id: agentId, message: "Hi", draft });
  expect({ status: answer.status, ...answer.body }).toEqual({
    status: 403,
    detail: "draft needs a session: an API key cannot try unsaved changes",
  });
});

test("a refused draft names the field in it", async () => {
  const bad = { prompt_content: "Be long.", prompt: { prompt_name: "greeting" } };
  for (const [given, path] of [
    [bad, "draft.prompt_content"],
    [{ agent_name: "" }, "draft.agent_name"],
    [{ llm: { provider_name: "NOBODY", model_name: "x" } }, "draft.llm.provider_name"],
  ] as const) {
    const request = { agent_id: agentId, message: "Hi", draft: given };
    expect(await signedIn.post("//v1/public/chat", request)).toMatchObject({
      status: 422,
      body: { errors: [{ path, message: expect.stringMatching(/^draft\./) }] },
    });
  }
});

test("a draft with an unknown prompt names the field in it, and says what a PATCH with it says", async () => {
  const request = { agent_id: agentId, message: "Hi", draft: { prompt: { prompt_name: "nobody wrote this" } } };
  const detail = "Prompt not found";
  expect(await signedIn.post("//v1/public/chat", request)).toMatchObject({
    status: 404,
    body: { detail, errors: [{ path: "draft.prompt.prompt_name", message: detail }] },
  });
});

test("what a web call stores until it begins is at most 64 KiB", async () => {
  const request = { agent_id: agentId, metadata: { long: "x".repeat(64 * 1024) } };
  expect(await signedIn.post("//v1/public/web-calls", request)).toMatchObject({
    status: 413,
    body: { detail: "dynamic_variables and metadata must be at most 64 KiB together" },
  });
});

test("a test chat begins with the greeting of the draft, and its messages follow in the same session", async () => {
  const greeted = { first_message_prompt: "Hello {{name}}." };
  const asked = { agent_id: agentId, dynamic_variables: { name: "Ada" }, draft: greeted };
  const { status, body, headers } = await signedIn.post("//v1/manage/test-chats", asked);
  expect({ status, ...body }).toMatchObject({ status: 200, first_message: "Hello Ada.", agent_id: agentId });
  expect(headers.get("x-session-id")).toBe(body.session_id);
  const { session_id } = body;
  const message = { agent_id: agentId, session_id, message: "Hi", streaming: false, draft: greeted };
  expect(await signedIn.post("//v1/public/chat", message)).toMatchObject({ status: 200, body: { session_id } });
  const { body: chat } = await signedIn.get(`//v1/public/chat/sessions/${session_id}`);
  expect(chat.messages.map(({ content }: { content: string }) => content).slice(0, 2)).toEqual(["Hello Ada.", "Hi"]);
});
