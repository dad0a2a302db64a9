import { afterAll, describe, expect, test } from "bun:test";
import type { Answer } from "../kit/api.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const NOWHERE = "01890000-0000-7000-8000-000000000000";
const JSON_TYPE = { "content-type": "application/json" };

const [stack, model] = await Promise.all([sharedStack(), startScriptedModel()]);
const api = stack.api(stack.owners[0].apiKey);
const agentId = await createAgent(api, model);
const foreignAgentId = await createAgent(stack.api(stack.owners[1].apiKey), model);
afterAll(async () => {
  await stack.stop();
  await model.stop();
});

const chat = (fields: object) => api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false, ...fields });
const problem = ({ status, body }: Answer) => ({ status, ...body });

describe("an agent", () => {
  const routes = [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["GET", "/dynamic-variables"],
    ["GET", "/first-message"],
  ] as const;
  const send = (method: string, path: string) =>
    api.send(method, path, method === "PATCH" ? { body: '{"agent_name":"B"}', headers: JSON_TYPE } : {});

  test.each(routes)("that does not exist is 404, another owner's 403: %s /agents/{id}%s", async (method, suffix) => {
    for (const id of ["agt_00000000000000000000000000", "none", "%00", "a%2Fb", "x".repeat(300)]) {
      const answer = await send(method, `/agents/${id}${suffix}`);
      expect(problem(answer)).toEqual({ status: 404, detail: "Agent not found" });
    }
    const answer = await send(method, `/agents/${foreignAgentId}${suffix}`);
    expect(problem(answer)).toEqual({ status: 403, detail: "You do not have access to this agent" });
  });

  test("that does not exist is 404 in a chat, another owner's 403", async () => {
    expect(problem(await chat({ agent_id: "agt_none" }))).toEqual({ status: 404, detail: "Agent not found" });
    const detail = "You do not have access to this agent";
    expect(problem(await chat({ agent_id: foreignAgentId }))).toEqual({ status: 403, detail });
    expect(problem(await api.get(`/chat/sessions?agent_id=${foreignAgentId}`))).toEqual({ status: 403, detail });
  });
});

test("a session that does not exist, or could not, is 404", async () => {
  for (const id of [NOWHERE, "none", "%00", "1"]) {
    expect(problem(await api.get(`/chat/sessions/${id}`))).toEqual({ status: 404, detail: "Session not found" });
    expect(problem(await api.get(`/conversations/${id}`))).toEqual({ status: 404, detail: "Conversation not found" });
  }
  expect(problem(await chat({ session_id: NOWHERE }))).toEqual({ status: 404, detail: "Session not found" });
});

test("a session of another owner is 403 and stays as it was", async () => {
  const other = stack.api(stack.owners[1].apiKey);
  const { body } = await other.post("/chat", { agent_id: foreignAgentId, message: "Mine", streaming: false });
  const id = body.session_id;
  const detail = "You do not have access to this session";
  expect(problem(await api.get(`/chat/sessions/${id}`))).toEqual({ status: 403, detail });
  expect(problem(await chat({ session_id: id }))).toEqual({ status: 403, detail });
  const conversation = await api.get(`/conversations/${id}`);
  expect(problem(conversation)).toEqual({ status: 403, detail: "You do not have access to this conversation" });
  expect((await other.get(`/chat/sessions/${id}`)).body.message_count).toBe(2);
});

test("a session of another agent is 400 and stays as it was", async () => {
  const { body } = await chat({});
  const answer = await chat({ agent_id: await createAgent(api, model), session_id: body.session_id });
  const detail = "session_id belongs to a session of another agent";
  expect(problem(answer)).toEqual({ status: 400, detail });
  expect((await api.get(`/chat/sessions/${body.session_id}`)).body.message_count).toBe(2);
});

test("a session that has ended is 400, streamed or not", async () => {
  const ender = await createAgent(api, model, { tools: { end_call: true } });
  model.next((exchange) => {
    exchange.toolCall("end_call", { message: "Bye." });
    exchange.finish();
  });
  const { body } = await chat({ agent_id: ender });
  for (const streaming of [true, false]) {
    const answer = await chat({ agent_id: ender, session_id: body.session_id, streaming });
    expect(problem(answer)).toEqual({ status: 400, detail: "Session has ended" });
    expect(answer.headers.get("x-session-id")).toBe(body.session_id);
  }
});

test("a prompt that does not exist, or could not, is 404", async () => {
  for (const name of ["none", "%00", "a%2Fb", "x".repeat(101)]) {
    expect(problem(await api.get(`/prompts/${name}`))).toEqual({ status: 404, detail: "Prompt not found" });
  }
  const agent = { agent_name: "A", agent_type: "INBOUND", prompt: { prompt_name: "none" } };
  const detail = "Prompt not found";
  const errors = [{ path: "prompt.prompt_name", message: detail }];
  expect(problem(await api.post("/agents", agent))).toEqual({ status: 404, detail, errors });
});

describe("an address", () => {
  const anonymous = () => stack.api("");

  test("without a route is 404 without asking for a key", async () => {
    for (const path of ["//v1", "//v2/public/agents", "/nothing", "/agents/a/b/c", "/chat/sessions/a/b", "//%zz"]) {
      expect(problem(await anonymous().get(path))).toEqual({ status: 404, detail: "Not found: no such route" });
    }
  });

  test.each([
    ["PUT", "/agents", "GET, HEAD, POST"],
    ["POST", "/agents/a", "DELETE, GET, HEAD, PATCH"],
    ["GET", "/chat", "POST"],
    ["DELETE", "/chat/sessions/a", "GET, HEAD"],
    ["POST", "/conversations", "GET, HEAD"],
    ["PATCH", "/prompts/a/versions", "GET, HEAD"],
  ])("without a method %s %s is 405 and lists the allowed methods", async (method, path, allow) => {
    const answer = await anonymous().send(method, path);
    expect(answer.headers.get("allow")).toBe(allow);
    expect(problem(answer)).toEqual({ status: 405, detail: `Method not allowed. Use ${allow}.` });
  });

  test("answers HEAD with the headers of GET and no body", async () => {
    const headers = { "x-api-key": stack.owners[0].apiKey };
    const head = await fetch(`${stack.url}/v1/public/agents/none`, { method: "HEAD", headers });
    expect([head.status, await head.text()]).toEqual([404, ""]);
    expect(head.headers.get("x-ratelimit-limit")).not.toBeNull();
  });

  test("answers HEAD for a first message without opening a session", async () => {
    const { body: agent } = await api.post("/agents", { agent_name: "Headed", agent_type: "INBOUND" });
    const headers = { "x-api-key": stack.owners[0].apiKey };
    const headOf = (id: string) =>
      fetch(`${stack.url}/v1/public/agents/${id}/first-message`, { method: "HEAD", headers });
    const head = await headOf(agent.id);
    expect([head.status, head.headers.get("x-session-id"), await head.text()]).toEqual([200, null, ""]);
    expect((await api.get(`/chat/sessions?agent_id=${agent.id}`)).body.total).toBe(0);
    expect((await headOf("none")).status).toBe(404);
    expect((await headOf(foreignAgentId)).status).toBe(403);
    await api.get(`/agents/${agent.id}/first-message`);
    expect((await api.get(`/chat/sessions?agent_id=${agent.id}`)).body.total).toBe(1);
  });

  test("whose percent-encoding is broken names nothing", async () => {
    expect(problem(await api.get("/agents/%zz"))).toEqual({ status: 404, detail: "Agent not found" });
    expect(problem(await api.get("/prompts/%ff"))).toEqual({ status: 404, detail: "Prompt not found" });
    expect(problem(await api.get("/chat/sessions/%"))).toEqual({ status: 404, detail: "Session not found" });
    expect(problem(await api.get("/conversations/%e0%a4%a"))).toEqual({
      status: 404,
      detail: "Conversation not found",
    });
  });
});
