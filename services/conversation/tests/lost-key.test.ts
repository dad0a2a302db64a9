import { afterAll, expect, test } from "bun:test";
import { sharedAgents } from "@parley/testkit/shared-agents";
import postgres from "postgres";
import { createAgent, failure, hear, say, startTestChat, type TestAgent, turn } from "./kit.ts";

const service = await startTestChat();
const admin = postgres(sharedAgents().adminUrl, { max: 1, onnotice: () => {} });
const agent = await createAgent(service);
const other = await createAgent(service, {}, agent.ownerId);
afterAll(() => Promise.all([service.stop(), admin.end()]));

const setModel = ({ agentId }: TestAgent, llm: object) =>
  admin`update agent.agents set llm = ${admin.json(llm as never)} where agent_id = ${agentId}`;

test("a model key moved in the database is not sent: the chat says what to do, and other agents work", async () => {
  const [before] = await admin`select llm from agent.agents where agent_id = ${agent.agentId}`;
  const [moved] = await admin`select llm from agent.agents where agent_id = ${other.agentId}`;
  const calls = service.model.calls.length;
  for (const llm of [moved?.llm, { ...before?.llm, providerName: "OPENAI" }]) {
    await setModel(agent, llm);
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
  }
  expect(service.model.calls.length).toBe(calls + 2);
  await setModel(agent, before?.llm);
  expect((await say(service, agent)).response).toBe("Hello there.");
});
