import { afterAll, describe, expect, test } from "bun:test";
import type { CreateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  changePrompt,
  create,
  createPrompt,
  creation,
  customLlm,
  inline,
  list,
  present,
  read,
  startTestAgents,
} from "./kit.ts";
import { EVERYTHING, llm, stt, tts } from "./values.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

describe("creating", () => {
  test("every given field is returned, by the creation and by later reads", async () => {
    const owner = newOwner();
    const agent = await create(service.agents, creation(owner, { ...EVERYTHING, prompt: inline("You help {{who}}.") }));
    expect(agent).toMatchObject(EVERYTHING);
    expect(agent.agentId).toMatch(/^agt_[0-9a-z]{26}$/);
    expect(agent.ownerId).toBe(owner);
    expect(agent.createdAt).toEqual(service.clock.now());
    expect(agent.updatedAt).toEqual(agent.createdAt);
    expect(await read(service.agents, agent)).toEqual(agent);
  });

  test("a missing field has its default", async () => {
    expect(await create(service.agents, creation(newOwner()))).toMatchObject({
      agentDescription: undefined,
      agentCategory: "other",
      agentTips: [],
      agentMobileNumbers: [],
      stt: undefined,
      llm: undefined,
      tts: undefined,
      sts: undefined,
      analysis: { enabled: false, prompt: undefined, schema: undefined },
      prompt: undefined,
      firstMessagePrompt: undefined,
      dynamicVariables: [],
      tools: undefined,
      widgetConfig: undefined,
      mediaFiles: [],
    });
  });

  test("an inline prompt becomes the agent's internal prompt, visible to the owner", async () => {
    const owner = newOwner();
    const agent = await create(service.agents, creation(owner, { prompt: inline("Be kind.") }));
    const prompt = { promptName: `agent-${agent.agentId}`, promptVersion: 1, promptContent: "Be kind." };
    expect(agent.prompt).toEqual(prompt);
    const found = await service.prompts.getPrompt({ ownerId: owner, reference: { promptName: prompt.promptName } });
    expect(found.prompt).toMatchObject(prompt);
  });

  test("a reference without a version follows the prompt, one with a version stays on it", async () => {
    const owner = newOwner();
    await createPrompt(service.prompts, owner, "sales", "One.");
    const latest = await create(service.agents, creation(owner, { prompt: byName("sales") }));
    const pinned = await create(service.agents, creation(owner, { prompt: byName("sales", 1) }));
    await changePrompt(service, owner, "sales", "Two.");
    expect((await read(service.agents, latest)).prompt).toMatchObject({ promptVersion: 2, promptContent: "Two." });
    expect((await read(service.agents, pinned)).prompt).toMatchObject({ promptVersion: 1, promptContent: "One." });
  });

  test("an unknown prompt, an unknown version and another owner's prompt are not found, and no agent is left behind", async () => {
    const owner = newOwner();
    await createPrompt(service.prompts, owner, "sales");
    for (const [ownerId, source] of [
      [owner, byName("nothing")],
      [owner, byName("sales", 2)],
      [newOwner(), byName("sales")],
    ] as const) {
      expect(await failure(service.agents.createAgent(creation(ownerId, { prompt: source })))).toMatchObject({
        kind: "not_found",
        detail: "Prompt not found",
      });
      expect((await list(service.agents, ownerId)).total).toBe(0);
    }
  });

  test("variables of the prompt come before those of the first message, each once, in canonical form", async () => {
    const agent = await create(
      service.agents,
      creation(newOwner(), {
        prompt: inline('{{Zip Code}} {{name|"you"}} {{amount : NUMBER : How much}}'),
        firstMessagePrompt: "{{NAME}} {{e-mail}}",
      }),
    );
    expect(agent.dynamicVariables).toEqual(["zip_code", "name", "amount", "e_mail"]);
    const { agentName, dynamicVariables } = await service.agents.listDynamicVariables(agent);
    expect(agentName).toBe(agent.agentName);
    expect(dynamicVariables.map((variable) => [variable.variableName, variable.required])).toEqual([
      ["zip_code", true],
      ["name", false],
      ["amount", true],
      ["e_mail", true],
    ]);
  });

  test.each<[string, Partial<CreateAgentRequest>, string]>([
    ["llm.provider_name", { llm: llm("ACME", "x") }, "OPENAI"],
    ["llm.provider_name", { llm: llm("toString", "x") }, "OPENAI"],
    ["llm.model_name", { llm: llm("OPENAI", "x") }, "gpt-4o"],
    ["stt.provider_name", { stt: stt("ACME", "x") }, "DEEPGRAM, ASSEMBLYAI"],
    ["stt.model_name", { stt: stt("DEEPGRAM", "x") }, "nova-3"],
    ["tts.provider_name", { tts: tts("ACME", "v") }, "ELEVENLABS"],
    ["tts.model_name", { tts: tts("OPENAI", "v", "x") }, "tts-1"],
    ["llm.fallbacks.0.model_name", { llm: customLlm("https://llm.example", "a key", [llm("OPENAI", "x")]) }, "gpt-4o"],
  ])("%s that the catalogue does not list is refused, naming what it lists", async (path, config, known) => {
    const refused = await failure(service.agents.createAgent(creation(newOwner(), config)));
    expect(refused).toMatchObject({ kind: "invalid", paths: [path] });
    expect(refused.detail).toStartWith(`${path} must be one of `);
    expect(refused.detail).toContain(known);
  });
});

test("every provider and model in the catalogue is accepted", async () => {
  const providers = await service.agents.listProviders({ ownerId: newOwner() });
  expect(providers.llm.map(({ providerName }) => providerName)).toEqual([
    "OPENAI",
    "OPENAI_RESPONSES",
    "ANTHROPIC",
    "GOOGLE",
    "GROQ",
    "MISTRAL",
  ]);
  expect(providers.stt.map(({ providerName }) => providerName)).toEqual(["DEEPGRAM", "ASSEMBLYAI"]);
  expect(providers.tts.map(({ providerName }) => providerName)).toEqual([
    "ELEVENLABS",
    "CARTESIA",
    "DEEPGRAM",
    "OPENAI",
    "GOOGLE",
  ]);
  for (const { providerName, modelNames } of providers.llm) {
    const modelName = present(modelNames[0]);
    await create(service.agents, creation(newOwner(), { llm: llm(providerName, modelName) }));
  }
});
