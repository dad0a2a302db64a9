import { afterAll, describe, expect, test } from "bun:test";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { change, create, creation, present, read, startTestAgents, update } from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

describe("a phone number", () => {
  const NUMBERS = ["+14155550181", "+14155550182"];
  const taken = (agentId: string) => ({
    kind: "conflict",
    detail: `agent_mobile_number +14155550181 is already answered by the agent ${agentId}: take it over with ?move_numbers=true`,
  });

  test("that is given twice is kept once", async () => {
    const [one = "", two = ""] = NUMBERS;
    const made = await create(service.agents, creation(newOwner(), { agentMobileNumbers: [two, one, two] }));
    expect(made.agentMobileNumbers).toEqual([two, one]);
    const changed = await change(service.agents, made, { agentMobileNumbers: { values: [one, one] } });
    expect(changed.agentMobileNumbers).toEqual([one]);
  });

  test("is answered by one agent of an owner: the second one's write is refused", async () => {
    const owner = newOwner();
    const first = await create(service.agents, creation(owner, { agentMobileNumbers: NUMBERS }));
    const again = create(service.agents, creation(owner, { agentMobileNumbers: ["+14155550181"] }));
    expect(await failure(again)).toMatchObject(taken(first.agentId));
    const second = await create(service.agents, creation(owner, {}));
    const give = (agentId: string, values: string[]) =>
      service.agents.updateAgent(update({ ownerId: owner, agentId }, { agentMobileNumbers: { values } }));
    expect(await failure(give(second.agentId, ["+14155550181"]))).toMatchObject(taken(first.agentId));
    // An agent keeps its own numbers, and a number that it gives up is free.
    await give(first.agentId, ["+14155550182"]);
    await give(second.agentId, ["+14155550181"]);
  });

  test("moves to another agent in one write, which leaves the first one its other numbers", async () => {
    const owner = newOwner();
    const first = await create(service.agents, creation(owner, { agentMobileNumbers: [...NUMBERS, "+14155550184"] }));
    const foreign = await create(service.agents, creation(newOwner(), { agentMobileNumbers: NUMBERS }));
    const second = await create(service.agents, creation(owner, {}));
    const numbers = { agentMobileNumbers: { values: ["+14155550182"] }, moveNumbers: true };
    expect((await change(service.agents, second, numbers)).agentMobileNumbers).toEqual(["+14155550182"]);
    const left = await read(service.agents, first);
    expect(left.agentMobileNumbers).toEqual(["+14155550181", "+14155550184"]);
    expect(present(left.updatedAt) > present(first.updatedAt)).toBeTrue();
    const third = creation(owner, { agentMobileNumbers: ["+14155550181"], moveNumbers: true });
    await create(service.agents, third);
    expect((await read(service.agents, first)).agentMobileNumbers).toEqual(["+14155550184"]);
    expect(await read(service.agents, foreign)).toEqual(foreign);
  });

  test("that agents take from each other at once is answered by one of them, and no write fails", async () => {
    const owner = newOwner();
    const first = await create(service.agents, creation(owner, { agentMobileNumbers: NUMBERS }));
    const others = await Promise.all([1, 2, 3].map(() => create(service.agents, creation(owner, {}))));
    const all = [first, ...others];
    const take = { agentMobileNumbers: { values: NUMBERS }, moveNumbers: true };
    await Promise.all([...all, ...all].map((agent) => change(service.agents, agent, take)));
    const shown = await Promise.all(all.map((agent) => read(service.agents, agent)));
    expect(shown.flatMap(({ agentMobileNumbers }) => agentMobileNumbers)).toEqual(NUMBERS);
  });

  test("that several agents want at once is given to one", async () => {
    const owner = newOwner();
    const wanted = creation(owner, { agentMobileNumbers: ["+14155550183"] });
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => create(service.agents, wanted)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});
