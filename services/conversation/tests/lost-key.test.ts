import { afterAll, expect, test } from "bun:test";
import { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { sharedAgents } from "@parley/testkit/shared-agents";
import postgres from "postgres";
import { createAgent, failure, hear, llmOf, say, startTestChat, turn } from "./kit.ts";

const service = await startTestChat();
const admin = postgres(sharedAgents().adminUrl, { max: 1, onnotice: () => {} });
const agent = await createAgent(service);
const other = await createAgent(service, {}, agent.ownerId);
afterAll(() => Promise.all([service.stop(), admin.end()]));

test("a model key moved in the database is not sent: the chat says what to do, and other agents work", async () => {
  await admin`
    update agent.agent_keys set sealed_key = (select sealed_key from agent.agent_keys where agent_id = ${other.agentId})
    where agent_id = ${agent.agentId}`;
  const calls = service.model.calls.length;
  const refusal = {
    kind: "condition",
    detail: "The agent's llm.params.api_key can no longer be read: set it again",
    sessionId: undefined,
  };
  const [whole, streamed, beside] = await Promise.all([
    failure(service.chat.completeTurn({ turn: turn(agent) })),
    failure(hear(service.chat, turn(agent))),
    say(service, other),
  ]);
  expect([whole, streamed, beside.response]).toEqual([refusal, refusal, "Hello there."]);
  expect(service.model.calls.length).toBe(calls + 1);
  await service.agents.updateAgent(UpdateAgentRequest.fromPartial({ ...agent, llm: llmOf(service.model) }));
  expect((await say(service, agent)).response).toBe("Hello there.");
});
