import { afterAll, describe, expect, test } from "bun:test";
import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { newId } from "@parley/shared/ids";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { WRONG_PAGES } from "@parley/testkit/pages";
import { create, creation, deletion, inline, list, runtimes, startTestAgents } from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

describe("reading many", () => {
  test("each key has its result in its place, whoever asks and however often it is repeated", async () => {
    const [anna, ben] = [newOwner(), newOwner()];
    const [hers, his] = await Promise.all([
      create(service.agents, creation(anna, { agentName: "hers", prompt: inline("Hers.") })),
      create(service.agents, creation(ben, { agentName: "his", prompt: inline("His.") })),
    ]);
    const keys = [
      { ownerId: ben, agentId: his.agentId },
      { ownerId: anna, agentId: his.agentId },
      { ownerId: anna, agentId: newId("agt") },
      { ownerId: anna, agentId: hers.agentId },
      { ownerId: ben, agentId: his.agentId },
    ];
    const { results } = await service.agents.batchGetAgents({ keys });
    expect(results.map(({ access, agent }) => [access, agent?.prompt?.promptContent])).toEqual([
      [Access.ACCESS_GRANTED, "His."],
      [Access.ACCESS_DENIED, undefined],
      [Access.ACCESS_NOT_FOUND, undefined],
      [Access.ACCESS_GRANTED, "Hers."],
      [Access.ACCESS_GRANTED, "His."],
    ]);
    const read = await runtimes(service.agents, keys);
    expect(read.results.map(({ access, runtime }) => [access, runtime?.prompt?.promptContent])).toEqual(
      results.map(({ access, agent }) => [access, agent?.prompt?.promptContent]),
    );
  });

  test.each(["", "agt_", "\0", "agt_\0".padEnd(30, "0"), "x".repeat(100), "agt_ñ", "' or 1=1"])(
    "the impossible id %j is not found and does not affect the others of its batch",
    async (agentId) => {
      const owner = newOwner();
      const agent = await create(service.agents, creation(owner));
      const { results } = await service.agents.batchGetAgents({ keys: [{ ownerId: owner, agentId }, agent] });
      expect(results.map(({ access }) => access)).toEqual([Access.ACCESS_NOT_FOUND, Access.ACCESS_GRANTED]);
      expect(await failure(service.agents.deleteAgent({ ...deletion(agent), agentId }))).toMatchObject({
        kind: "not_found",
      });
    },
  );

  test("no keys have no results", async () => {
    expect((await service.agents.batchGetAgents({ keys: [] })).results).toEqual([]);
  });
});

describe("listing", () => {
  test("newest first, a page at a time, with the total of all", async () => {
    const owner = newOwner();
    for (const agentName of ["one", "two", "three"]) {
      await create(service.agents, creation(owner, { agentName, prompt: inline(agentName) }));
      service.clock.advance(1);
    }
    const names = async (number: number) =>
      (await list(service.agents, owner, { page: { number, size: 2 } })).agents.map((agent) => [
        agent.agentName,
        agent.prompt?.promptContent,
      ]);
    expect(await names(1)).toEqual([
      ["three", "three"],
      ["two", "two"],
    ]);
    expect(await names(2)).toEqual([["one", "one"]]);
    expect(await names(3)).toEqual([]);
    expect((await list(service.agents, owner, { page: { number: 3, size: 2 } })).total).toBe(3);
  });

  test("filters combine, and a search matches name and description in any case, with wildcards taken literally", async () => {
    const owner = newOwner();
    const { AGENT_TYPE_INBOUND: INBOUND, AGENT_TYPE_OUTBOUND: OUTBOUND } = AgentType;
    for (const [agentName, agentType, agentDescription, agentCategory] of [
      ["100% Off", INBOUND, "Sells", "Sales"],
      ["1000 Offers", OUTBOUND, "Sells a_b", "Sales"],
      ["Ärztin", INBOUND, "back\\slash", "Healthcare"],
    ] as const) {
      await create(service.agents, creation(owner, { agentName, agentType, agentDescription, agentCategory }));
    }
    const found = async (given: Parameters<typeof list>[2]) =>
      (await list(service.agents, owner, given)).agents.map((agent) => agent.agentName).sort();
    expect(await found({ search: "0% o" })).toEqual(["100% Off"]);
    expect(await found({ search: "A_B" })).toEqual(["1000 Offers"]);
    expect(await found({ search: "K\\S" })).toEqual(["Ärztin"]);
    expect(await found({ search: "äRZ" })).toEqual(["Ärztin"]);
    expect(await found({ search: "off" })).toEqual(["100% Off", "1000 Offers"]);
    expect(await found({ search: "off", agentType: OUTBOUND })).toEqual(["1000 Offers"]);
    expect(await found({ agentCategory: "Sales", agentType: INBOUND })).toEqual(["100% Off"]);
    expect(await found({ search: "\0" })).toEqual([]);
    expect(await found({})).toHaveLength(3);
  });

  test("another owner's agents are not in the list", async () => {
    await create(service.agents, creation(newOwner()));
    expect(await list(service.agents, newOwner())).toEqual({ agents: [], total: 0 });
  });
});

test.each(WRONG_PAGES)(
  "a list of agents refuses page $page.number of size $page.size and names the field",
  async ({ page, field }) => {
    expect(await failure(list(service.agents, newOwner(), { page }))).toMatchObject({
      kind: "invalid",
      paths: [field],
    });
  },
);
