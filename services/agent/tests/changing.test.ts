import { afterAll, describe, expect, test } from "bun:test";
import type { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  create,
  createPrompt,
  creation,
  customLlm,
  inline,
  read,
  startTestAgents,
  update,
} from "./kit.ts";
import { EVERYTHING, tts } from "./values.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

describe("changing", () => {
  test("a missing field stays, a given one is replaced as a whole", async () => {
    const agent = await create(service.agents, creation(newOwner(), { ...EVERYTHING, prompt: inline("Stay.") }));
    service.clock.advance(5);
    const changed = await change(service.agents, agent, {
      agentName: "New",
      tools: { set_language: true },
      tts: tts("OPENAI", "alloy"),
      agentTips: { values: [] },
    });
    expect(changed).toEqual({
      ...agent,
      agentName: "New",
      tools: { set_language: true },
      tts: tts("OPENAI", "alloy"),
      agentTips: [],
      agentVersion: 2,
      latestVersion: 2,
      publishedVersion: 2,
      updatedAt: new Date((agent.updatedAt?.getTime() ?? 0) + 5),
    });
    expect(await read(service.agents, agent)).toEqual(changed);
  });

  test("a cleared field is empty, or has the default of a new agent", async () => {
    const agent = await create(service.agents, creation(newOwner(), { ...EVERYTHING, prompt: inline("Go.") }));
    const clear = Object.keys(EVERYTHING).filter((field) => !["agentName", "agentType"].includes(field));
    const cleared = await change(service.agents, agent, { clear: [...clear, "prompt", "constructor", "ownerId"] });
    const fresh = await create(service.agents, creation(agent.ownerId));
    const { agentId, createdAt, updatedAt, agentName, agentType } = cleared;
    const versions = { agentVersion: 2, latestVersion: 2, publishedVersion: 2 };
    expect(cleared).toEqual({ ...fresh, agentId, createdAt, updatedAt, agentName, agentType, ...versions });
    expect(agentName).toBe(agent.agentName);
  });

  test("updated_at moves forward with every change, even if the clock stands still or was set back", async () => {
    const agent = await create(service.agents, creation(newOwner()));
    const times = [agent.updatedAt?.getTime() ?? 0];
    for (const backMs of [0, 0, 60_000]) {
      service.clock.advance(-backMs);
      const { updatedAt, createdAt } = await change(service.agents, agent, {});
      expect(createdAt).toEqual(agent.createdAt);
      times.push(updatedAt?.getTime() ?? 0);
    }
    service.clock.advance(60_000);
    expect(times).toEqual([...new Set(times)].sort());
  });

  test("a new prompt, a new version and a removed prompt show in the next read, whatever was cached", async () => {
    const owner = newOwner();
    const agent = await create(service.agents, creation(owner, { prompt: inline("One.") }));
    await createPrompt(service.prompts, owner, "sales", "Two.");
    for (const [prompt, content] of [
      [byName("sales"), "Two."],
      [inline("Three."), "Three."],
      [byName(`agent-${agent.agentId}`, 1), "One."],
    ] as const) {
      await change(service.agents, agent, { prompt });
      for (let times = 0; times < 2; times++)
        expect((await read(service.agents, agent)).prompt?.promptContent).toBe(content);
    }
    await change(service.agents, agent, { clear: ["prompt"] });
    for (let times = 0; times < 2; times++) expect((await read(service.agents, agent)).prompt).toBeUndefined();
  });

  test("new inline content becomes the next version of the internal prompt", async () => {
    const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
    const changed = await change(service.agents, agent, { prompt: inline("Two.") });
    expect(changed.prompt).toEqual({ promptName: `agent-${agent.agentId}`, promptVersion: 2, promptContent: "Two." });
  });

  test("a refused change changes nothing, not even the internal prompt", async () => {
    const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
    const refusals: Partial<UpdateAgentRequest>[] = [
      { llm: customLlm("https://llm.example", "********cret") },
      { analysis: { enabled: true, prompt: undefined, schema: undefined } },
      { tts: tts("ACME", "v") },
      { analysis: { enabled: undefined, prompt: byName("nothing"), schema: undefined } },
    ];
    for (const refused of refusals) {
      const request = update(agent, { agentName: "Changed", prompt: inline("Two."), ...refused });
      expect((await failure(service.agents.updateAgent(request))).kind).toMatch(/^(invalid|not_found)$/);
      expect(await read(service.agents, agent)).toEqual(agent);
    }
  });

  test("50 changes at once all happen, one after the other", async () => {
    const agent = await create(service.agents, creation(newOwner(), { prompt: inline("0") }));
    const changes = Array.from({ length: 50 }, (_, at) =>
      at % 2 === 0
        ? change(service.agents, agent, { prompt: inline(`${at}`) })
        : change(service.agents, agent, { agentName: `${at}` }),
    );
    const times = (await Promise.all(changes)).map(({ updatedAt }) => updatedAt?.getTime());
    expect(new Set(times).size).toBe(50);
    expect((await read(service.agents, agent)).prompt?.promptVersion).toBe(26);
  });
});
