import { afterAll, describe, expect, test } from "bun:test";
import { newId } from "@parley/shared/ids";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { change, create, creation, deletion, inline, list, read, startTestAgents, update } from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

describe("access", () => {
  test("another owner's agent is forbidden and a missing one is not found, in every RPC", async () => {
    const agent = await create(service.agents, creation(newOwner(), { prompt: inline("Mine.") }));
    const foreign = { ownerId: newOwner(), agentId: agent.agentId };
    const none = { ownerId: agent.ownerId, agentId: newId("agt") };
    const denied = { kind: "forbidden", detail: "You do not have access to this agent", paths: [] };
    const missing = { kind: "not_found", detail: "Agent not found", paths: [] };
    for (const [key, outcome] of [
      [foreign, denied],
      [none, missing],
    ] as const) {
      expect(await failure(service.agents.updateAgent(update(key, { agentDescription: "Taken" })))).toEqual(outcome);
      expect(await failure(service.agents.updateAgent(update(key, { prompt: inline("Taken") })))).toEqual(outcome);
      expect(await failure(service.agents.deleteAgent(deletion(key)))).toEqual(outcome);
      expect(await failure(service.agents.listDynamicVariables(key))).toEqual(outcome);
    }
    expect(await read(service.agents, agent)).toEqual(agent);
  });
});

test.each([
  ["  \u00a0", "agent_name must not be blank"],
  ["two\nlines", "agent_name must be printable characters only"],
  ["", "agent_name must be 1 to 100 characters"],
])("the name %j is refused with the reason, at creation and in a change", async (agentName, detail) => {
  const agent = await create(service.agents, creation(newOwner()));
  const refused = { kind: "invalid", detail, paths: ["agent_name"] };
  expect(await failure(create(service.agents, creation(agent.ownerId, { agentName })))).toEqual(refused);
  expect(await failure(change(service.agents, agent, { agentName }))).toEqual(refused);
  expect(await failure(service.agents.createDraft({ change: update(agent, { agentName }) }))).toEqual(refused);
});

test("deleting returns the agent's name and removes it", async () => {
  const agent = await create(service.agents, creation(newOwner(), { agentName: "Short-lived" }));
  const deleted = await service.agents.deleteAgent(deletion(agent));
  expect(deleted).toEqual({ agentName: "Short-lived", deletedAt: service.clock.now() });
  expect(await failure(service.agents.deleteAgent(deletion(agent)))).toMatchObject({ kind: "not_found" });
  expect((await list(service.agents, agent.ownerId)).total).toBe(0);
});
