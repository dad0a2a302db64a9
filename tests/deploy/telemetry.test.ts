import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import { createAuthority, createCertificate, storeCertificate } from "@parley/testkit/tls/certificates";
import { askedIn, observabilityQueries } from "../kit/deploy/observability.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { STAND_INS, startTestStack } from "../kit/stack/test-stack.ts";
import { WATCHED } from "../kit/stack/use-stack.ts";
import { createAgent, PROMPT_TEXT, SCRIPTED_KEY } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";
import { type CollectedSpan, startTraceCollector } from "../kit/trace-collector.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const ENDING_TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const CLIENTS_SPAN = "00f067aa0ba902b7";
const collector = startTraceCollector();

const [stack, model] = await Promise.all([
  startTestStack({ env: collector.env, without: STAND_INS }),
  startScriptedModel(),
]);
afterAll(async () => {
  await stack.stop();
  await model.stop();
  await collector.stop();
});

/** A span and its children, one line each, indented, in the order of their names. */
function outline(spans: CollectedSpan[], parentSpanId: string, indent = ""): string[] {
  return spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((span) => [
      `${indent}${span.service.replace("parley-", "")}: ${span.name}`,
      ...outline(spans, span.spanId, `${indent}  `),
    ]);
}

test("a chat is one trace, the client's own: request, every call, every statement, the model", async () => {
  const api = stack.api(stack.owners[0].apiKey);
  const agentId = await createAgent(api, model);
  const headers = { traceparent: `00-${TRACE_ID}-${CLIENTS_SPAN}-01` };
  const answer = await api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false }, headers);
  expect(answer.status).toBe(200);
  await eventually(() => {
    const trace = collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    expect(outline(trace, CLIENTS_SPAN)).toEqual([
      "gateway: sendMessage",
      "  gateway: parley.conversation.v1.ConversationService/RunTurn",
      "    conversation: parley.conversation.v1.ConversationService/RunTurn",
      "      conversation: chat scripted",
      "      conversation: insert messages",
      "      conversation: insert messages",
      "      conversation: parley.agent.v1.AgentService/BatchGetAgentRuntimes",
      "        agent: parley.agent.v1.AgentService/BatchGetAgentRuntimes",
      "          agent: select agents",
      "      conversation: parley.agent.v1.AgentService/BatchGetPointers",
      "        agent: parley.agent.v1.AgentService/BatchGetPointers",
      "          agent: select agents",
    ]);
  });
});

test("a webhook's attempt belongs to the trace of the turn that ended the conversation", async () => {
  const owner = stack.owners[0];
  const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const manage = stack.manage(await createSession(stack, owner.ownerId));
  const url = `http://127.0.0.1:${receiver.port}/`;
  expect((await manage.post("/destinations", { name: "Ours", url, request_type: "POST" })).status).toBe(200);
  const api = stack.api(owner.apiKey);
  const agentId = await createAgent(api, model, { tools: { end_call: {} } });
  void model.next((exchange) => {
    exchange.toolCall("end_call", { message: "Bye" });
    exchange.finish();
  });
  const headers = { traceparent: `00-${ENDING_TRACE_ID}-${CLIENTS_SPAN}-01` };
  await api.post("/chat", { agent_id: agentId, message: "Bye", streaming: false }, headers);
  await eventually(() => {
    const [attempt] = collector.spans.filter(({ name }) => name === "webhook POST");
    expect(attempt).toMatchObject({ service: "parley-webhook-dispatcher", traceId: ENDING_TRACE_ID });
    expect(attempt?.attributes).toMatchObject({ outcome: "ok" });
  });
  await receiver.stop(true);
});

test("no span carries what a user wrote, or a key", () => {
  const all = JSON.stringify(collector.spans);
  expect(collector.spans.length).toBeGreaterThan(10);
  for (const secret of [stack.owners[0].apiKey, SCRIPTED_KEY, PROMPT_TEXT]) expect(all).not.toContain(secret);
});

test("all of the above is counted by operation and outcome", async () => {
  const [gateway, agent, conversation, dispatcher] = await Promise.all(
    (["gateway", "agent", "conversation", "webhook-dispatcher"] as const).map((name) => stack.metrics(name)),
  );
  expect(gateway).toMatch(/^http_server_request_duration_count\{operation="sendMessage",status="200"\} 2$/m);
  expect(gateway).toMatch(/^parley_rate_limit_decisions_total\{outcome="allowed"\} \d+$/m);
  const rpc = "parley.agent.v1.AgentService/BatchGetAgentRuntimes";
  expect(agent).toMatch(new RegExp(`^rpc_server_call_duration_count{rpc_method="${rpc}",outcome="ok"} \\d+$`, "m"));
  expect(agent).toMatch(/^db_client_operation_duration_count\{db_query_summary="select agents",outcome="ok"\} \d+$/m);
  expect(agent).toMatch(/^db_client_statements_under_way \d+$/m);
  expect(conversation).toMatch(/^gen_ai_client_token_usage_total\{.*gen_ai_token_type="output"\} \d+$/m);
  expect(conversation).toMatch(/^gen_ai_client_operation_duration_count\{.*outcome="ok"\} 2$/m);
  expect(conversation).toMatch(/^parley_jobs_due\{queue="relay-events"\} \d+$/m);
  expect(dispatcher).toMatch(/^parley_webhook_attempt_duration_count\{outcome="ok"\} 1$/m);
  // Both let go of an event a moment after its attempt.
  await eventually(async () => {
    expect(await stack.metrics("conversation")).toMatch(/^parley_memory_held\{what="events"\} 0$/m);
    expect(await stack.metrics("webhook-dispatcher")).toMatch(/^parley_memory_held\{what="deliveries"\} 0$/m);
  });
});

test("a client that disconnects during a reply is counted separately from failing models", async () => {
  const api = stack.api(stack.owners[0].apiKey);
  const agentId = await createAgent(api, model);
  const asked = model.next((exchange) => exchange.text("One word "));
  const leaving = new AbortController();
  const answer = await api.chat({ agent_id: agentId, message: "Hi" }, leaving.signal);
  expect(answer.status).toBe(200);
  const { left } = await asked;
  leaving.abort();
  await left;
  await eventually(async () => {
    const told = await stack.metrics("conversation");
    expect(told).toMatch(/^gen_ai_client_operation_duration_count\{.*outcome="left"\} 1$/m);
    expect(told).not.toMatch(/^gen_ai_client_operation_duration_count\{.*outcome="error"\}/m);
  });
});

test("a model's failure is counted as a failure", async () => {
  const api = stack.api(stack.owners[0].apiKey);
  const agentId = await createAgent(api, model);
  void model.next((exchange) => exchange.respond(400, "application/json", "{}"));
  expect((await api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false })).status).toBe(502);
  const told = await stack.metrics("conversation");
  expect(told).toMatch(/^gen_ai_client_operation_duration_count\{.*outcome="error"\} 1$/m);
});

test("the dashboard and the alerts use only metrics and labels that a process exports", async () => {
  // A counter appears with its first count.
  const nobodys = `${stack.url}/v1/carriers/twilio/car_00000000000000000000000000/voice`;
  expect((await fetch(nobodys, { method: "POST", body: new URLSearchParams({ CallSid: "CA1" }) })).status).toBe(404);
  const forged = { method: "POST", body: "{}", headers: { "x-webhook-signature": "forged" } };
  expect((await fetch(`${stack.url}/v1/carriers/daily/operator`, forged)).status).toBe(403);
  const api = stack.api(stack.owners[0].apiKey);
  const agentId = await createAgent(api, model, { start_webhook: { url: "http://127.0.0.1:1/", timeout_ms: 500 } });
  expect((await api.post("/chat", { agent_id: agentId, message: "Hi", streaming: false })).status).toBe(200);
  const told = (await Promise.all([...WATCHED.map((name) => stack.metrics(name)), metricsWithTls()])).join("\n");
  const tells = new Set(
    Array.from(told.matchAll(/^([a-z][a-z_]*)(?:\{(.*)\})? /gm), ([, name, labels = ""]) => [
      name,
      ...Array.from(labels.matchAll(/([a-z_]+)="/g), ([, label]) => `${name} ${label}`),
    ]).flat(),
  );
  const asked = new Set((await observabilityQueries()).flatMap(askedIn));
  expect(asked.size).toBeGreaterThan(20);
  expect([...asked].filter((what) => !tells.has(what))).toEqual([]);
});

/** Metrics that only a process with certificates has, which a stack on one machine lacks. */
async function metricsWithTls(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-telemetry-"));
  const authority = await createAuthority("Parley test authority");
  const own = await storeCertificate(folder, "prompt", authority, await createCertificate(authority, "prompt"));
  const [port = 0] = await freePorts(1);
  const process = await startServiceProcess("prompt", {
    DATABASE_URL: stack.databaseUrls.prompt,
    PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
    PARLEY_ADMIN_LISTEN: `127.0.0.1:${port}`,
    PARLEY_TLS_CA: own.ca,
    PARLEY_TLS_CERT: own.cert,
    PARLEY_TLS_KEY: own.key,
  });
  try {
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  } finally {
    await process.stop();
    await rm(folder, { recursive: true });
  }
}
