import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import { type ScriptedModel, startScriptedModel } from "../src/testing/scripted-model.ts";
import { createAgent } from "../src/testing/test-agent.ts";
import { startTestStack, type TestStack } from "../src/testing/test-stack.ts";
import { type CollectedSpan, startTraceCollector } from "../src/testing/trace-collector.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENTS_SPAN = "00f067aa0ba902b7";
const collector = startTraceCollector();

let stack: TestStack;
let model: ScriptedModel;
beforeAll(async () => {
  [stack, model] = await Promise.all([startTestStack({ env: collector.env }), startScriptedModel()]);
});
afterAll(async () => {
  await stack.stop();
  await model.stop();
  await collector.stop();
});

/** A span and those it caused, a line each and indented, in the order of their names. */
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
      "  gateway: parley.conversation.v1.ConversationService/CompleteTurn",
      "    conversation: parley.conversation.v1.ConversationService/CompleteTurn",
      "      conversation: chat scripted",
      "      conversation: insert messages",
      "      conversation: insert messages",
      "      conversation: parley.agent.v1.AgentService/BatchGetAgentRuntimes",
      "        agent: parley.agent.v1.AgentService/BatchGetAgentRuntimes",
      "          agent: parley.prompt.v1.PromptService/BatchGetPrompts",
      "            prompt: parley.prompt.v1.PromptService/BatchGetPrompts",
      "              prompt: select prompt_versions",
      "          agent: select agents",
    ]);
  });
});

test("no span carries what a user wrote, or a key", () => {
  const all = JSON.stringify(collector.spans);
  expect(collector.spans.length).toBeGreaterThan(10);
  for (const secret of [stack.owners[0].apiKey, "sk-scripted", "Be brief."]) expect(all).not.toContain(secret);
});
