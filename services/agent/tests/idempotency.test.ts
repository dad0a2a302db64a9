import { afterAll, expect, test } from "bun:test";
import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { change, create, creation, deletion, inline, read, startTestAgents, update } from "./kit.ts";

/** With few connections, so that anything that needs two at once would deadlock here. */
const service = await startTestAgents({ PARLEY_DATABASE_POOL: "3" });
afterAll(() => service.stop());

function keyed(key: string, fingerprint = 1) {
  return { idempotency: { key, fingerprint: Buffer.alloc(32, fingerprint) } };
}

async function countAgents(ownerId: string): Promise<number> {
  const agentType = AgentType.AGENT_TYPE_UNSPECIFIED;
  const page = { number: 1, size: 1 };
  return (await service.agents.listAgents({ ownerId, page, search: "", agentType, agentCategory: "" })).total;
}

test("50 agents created at once over 3 connections are all stored", async () => {
  const owner = newOwner();
  const agents = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      create(service.agents, creation(owner, { prompt: inline(`${at}`), ...(at % 2 === 0 && keyed(`k${at}`)) })),
    ),
  );
  expect(agents.map((agent) => agent.prompt?.promptContent)).toEqual(agents.map((_, at) => `${at}`));
  expect(await countAgents(owner)).toBe(50);
});

test("30 concurrent creations with one key create one agent, and all return it", async () => {
  const owner = newOwner();
  const request = creation(owner, { prompt: inline("Once."), ...keyed("create") });
  let replays = 0;
  const onReplayed = () => {
    replays++;
  };
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => service.agents.createAgent(request, { onReplayed })),
  );
  expect(new Set(answers.map(({ agent }) => JSON.stringify(agent))).size).toBe(1);
  expect(replays).toBe(29);
  expect(await countAgents(owner)).toBe(1);
});

test("racing changes and deletions with one key happen once", async () => {
  const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
  const request = update(agent, { prompt: inline("Two."), ...keyed("update") });
  const changes = await Promise.all(Array.from({ length: 10 }, () => service.agents.updateAgent(request)));
  expect(new Set(changes.map(({ agent }) => agent?.prompt?.promptVersion))).toEqual(new Set([2]));
  await change(service.agents, agent, { prompt: inline("Three.") });
  expect((await service.agents.updateAgent(request)).agent?.prompt?.promptVersion).toBe(2);
  expect((await read(service.agents, agent)).prompt?.promptContent).toBe("Three.");

  const removal = { ...deletion(agent), ...keyed("delete") };
  const deletions = await Promise.all(Array.from({ length: 10 }, () => service.agents.deleteAgent(removal)));
  expect(new Set(deletions.map(({ agentName }) => agentName))).toEqual(new Set([agent.agentName]));
  expect(await failure(service.agents.deleteAgent(deletion(agent)))).toMatchObject({ kind: "not_found" });
});
