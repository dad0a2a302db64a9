import { afterAll, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  create,
  createPrompt,
  creation,
  customLlm,
  deletion,
  read,
  runtimes,
  startTestAgents,
} from "./kit.ts";

const LIST = { page: { number: 1, size: 10 }, search: "", agentType: 0, agentCategory: "" } as const;

const service = await startTestAgents();
afterAll(() => service.stop());

/** Agents of two owners with one id, inserted directly, and prompts with one name. */
async function pair(): Promise<[Agent, Agent]> {
  const [one, other] = [newOwner(), newOwner()];
  for (const owner of [one, other]) await createPrompt(service.prompts, owner, "sales", `Of ${owner}.`);
  const request = { prompt: byName("sales"), llm: customLlm("https://a.example/v1", "sk-primary-0123456789") };
  const [first, second] = [one, other].map((owner) => creation(owner, { ...request, agentName: owner }));
  if (!first || !second) throw new Error("there are two");
  const agents: [Agent, Agent] = [await create(service.agents, first), await create(service.agents, second)];
  const { agentId } = agents[0];
  for (const table of ["agents", "agent_versions", "agent_keys", "agent_publishes"])
    await service.sql`update ${service.sql(table)} set agent_id = ${agentId} where owner_id = ${other}`;
  return [agents[0], { ...agents[1], agentId }];
}

test("agents of two owners with the same id are read in one batch with their own names and prompts, every time", async () => {
  const agents = await pair();
  const stranger = { ownerId: newOwner(), agentId: agents[0].agentId };
  for (const keys of [agents, agents.toReversed()]) {
    const { results } = await service.agents.batchGetAgents({ keys: [...keys, stranger] });
    expect(results.map(({ agent }) => [agent?.agentName, agent?.prompt?.promptContent])).toEqual([
      ...keys.map(({ ownerId }) => [ownerId, `Of ${ownerId}.`]),
      [undefined, undefined],
    ]);
    expect(results.at(-1)?.access).toBe(Access.ACCESS_DENIED);
    const read = await runtimes(service.agents, keys);
    expect(read.results.map(({ runtime }) => runtime?.prompt?.promptContent)).toEqual(
      keys.map(({ ownerId }) => `Of ${ownerId}.`),
    );
  }
});

test("changing and deleting one of them, concurrently with one idempotency key, leaves the other unchanged", async () => {
  const [one, other] = await pair();
  const idempotency = { key: "same", fingerprint: Buffer.alloc(32) };
  await Promise.all(
    [one, other].map((agent) => change(service.agents, agent, { agentName: `New ${agent.ownerId}`, idempotency })),
  );
  for (const agent of [one, other]) expect((await read(service.agents, agent)).agentName).toBe(`New ${agent.ownerId}`);
  await service.agents.deleteAgent(deletion(one));
  expect((await read(service.agents, other)).prompt?.promptContent).toBe(`Of ${other.ownerId}.`);
  expect((await service.agents.listAgents({ ...LIST, ownerId: other.ownerId })).total).toBe(1);
  expect((await service.agents.listAgents({ ...LIST, ownerId: one.ownerId })).total).toBe(0);
  const { versionsDeleted } = await service.prompts.deletePrompt(removal(one.ownerId));
  expect(versionsDeleted).toBe(1);
  const used = await service.prompts.deletePrompt(removal(other.ownerId)).catch((error) => error.kind);
  expect(used).toBe("conflict");
});

test("a model key of one of them does not open for the other", async () => {
  const [one, other] = await pair();
  await service.sql`
    update agent_keys set sealed_key = (select sealed_key from agent_keys where owner_id = ${one.ownerId})
    where owner_id = ${other.ownerId}`;
  const { results } = await runtimes(service.agents, [one, other]);
  expect(results.map(({ runtime }) => runtime?.unreadableKey)).toEqual([undefined, "llm.params.api_key"]);
});

function removal(ownerId: string) {
  return { ownerId, promptName: "sales", idempotency: undefined };
}

test("a number that agents of two owners have reaches neither agent, or the agent of the number's owner", async () => {
  const numbers = ["+14155550180"];
  const [one, other] = [newOwner(), newOwner()];
  const agents = await Promise.all(
    [one, other].map((owner) => create(service.agents, creation(owner, { agentMobileNumbers: numbers }))),
  );
  const find = (ofOwnerId?: string) => service.agents.findCallee({ called: "+14155550180", ofOwnerId });
  expect(await find()).toEqual({ agent: undefined });
  expect(await find(one)).toEqual({ agent: { ownerId: one, agentId: agents[0]?.agentId ?? "" } });
  expect(await find(other)).toEqual({ agent: { ownerId: other, agentId: agents[1]?.agentId ?? "" } });
  expect(await find(newOwner())).toEqual({ agent: undefined });
});
