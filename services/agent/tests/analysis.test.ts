import { afterAll, expect, test } from "bun:test";
import type { AnalysisSettings } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  changePrompt,
  create,
  createPrompt,
  creation,
  inline,
  runtimes,
  startTestAgents,
  update,
} from "./kit.ts";

const service = await startTestAgents();
afterAll(() => service.stop());

const SCHEMA = { mood: { type: "Optional[str]" }, solved: { type: "bool" } };
const REQUIRED = {
  kind: "invalid",
  detail: "call_analysis_prompt is required when call_analysis_enabled is true",
  paths: ["call_analysis_prompt"],
};

function settings(given: Partial<AnalysisSettings>): AnalysisSettings {
  return { enabled: undefined, prompt: undefined, schema: undefined, ...given };
}

async function analysed(given: Partial<AnalysisSettings> = {}) {
  const owner = newOwner();
  await createPrompt(service.prompts, owner, "sums up", "Sum up.", PromptType.PROMPT_TYPE_ANALYSIS);
  const analysis = settings({ enabled: true, prompt: byName("sums up"), schema: SCHEMA, ...given });
  return create(service.agents, creation(owner, { analysis }));
}

test("analysis keeps its prompt by name, by version or as text, and its schema as given", async () => {
  expect((await analysed()).analysis).toEqual({
    enabled: true,
    prompt: { promptName: "sums up", promptVersion: undefined, promptLabel: undefined },
    schema: SCHEMA,
  });
  expect((await analysed({ prompt: byName("sums up", 1) })).analysis?.prompt?.promptVersion).toBe(1);
  const custom = await analysed({ prompt: inline("In one word.") });
  const promptName = `agent-${custom.agentId}-analysis`;
  expect(custom.analysis?.prompt).toEqual({ promptName, promptVersion: undefined, promptLabel: undefined });
  const { prompt } = await service.prompts.getPrompt({ ownerId: custom.ownerId, reference: { promptName } });
  expect(prompt).toMatchObject({ promptContent: "In one word.", promptType: PromptType.PROMPT_TYPE_ANALYSIS });
});

test("a runtime has the text of the analysis prompt, in the right version", async () => {
  const agents = [
    await analysed(),
    await analysed({ prompt: byName("sums up", 1) }),
    await analysed({ prompt: inline("In one word.") }),
  ];
  for (const { ownerId } of agents) {
    await changePrompt(service, ownerId, "sums up", "Sum up again.");
  }
  const plain = await create(service.agents, creation(newOwner()));
  const keys = [...agents, plain].map(({ ownerId, agentId }) => ({ ownerId, agentId }));
  const { results } = await runtimes(service.agents, keys);
  const contents = results.map(({ runtime }) => runtime?.analysisPrompt?.promptContent);
  expect(contents).toEqual(["Sum up again.", "Sum up.", "In one word.", undefined]);
});

test("an analysis prompt by label is the version that has the label, also after the label is moved", async () => {
  const label = (ownerId: string, promptVersion: number) =>
    service.prompts.setPromptLabel({
      ownerId,
      promptName: "sums up",
      label: "live",
      promptVersion,
      idempotency: undefined,
    });
  const { ownerId } = await analysed();
  await label(ownerId, 1);
  await changePrompt(service, ownerId, "sums up", "Sum up again.");
  const reference = { promptName: "sums up", promptLabel: "live" };
  const analysis = settings({ enabled: true, prompt: { source: { $case: "reference", value: reference } } });
  const agent = await create(service.agents, creation(ownerId, { analysis }));
  await label(ownerId, 2);
  await service.agents.followPrompt({ ownerId, promptName: "sums up" });
  const texts = [1, 2].map(async (agentVersion) => {
    const { version } = await service.agents.getAgentVersion({ ...agent, agentVersion });
    return version?.analysisPrompt?.promptContent;
  });
  expect(await Promise.all(texts)).toEqual(["Sum up.", "Sum up again."]);
});

test("changing one part leaves the others unchanged", async () => {
  const agent = await analysed();
  const steps: [Partial<AnalysisSettings>, object][] = [
    [{ enabled: false }, { enabled: false }],
    [{ schema: { mood: { type: "str" } } }, { schema: { mood: { type: "str" } } }],
    [{ enabled: true }, { enabled: true }],
    [{ prompt: byName("sums up", 1) }, { prompt: { promptName: "sums up", promptVersion: 1 } }],
    [
      { prompt: byName("sums up") },
      { prompt: { promptName: "sums up", promptVersion: undefined, promptLabel: undefined } },
    ],
    [{ schema: {} }, { schema: {} }],
  ];
  let expected = agent.analysis;
  for (const [given, difference] of steps) {
    expected = { ...expected, ...difference } as typeof expected;
    expect((await change(service.agents, agent, { analysis: settings(given) })).analysis).toEqual(expected);
  }
  expect((await change(service.agents, agent, { agentName: "Renamed" })).analysis).toEqual(expected);
});

test("prompt and schema are cleared independently", async () => {
  const agent = await analysed({ enabled: false });
  const withoutSchema = await change(service.agents, agent, { clear: ["analysisSchema"] });
  expect(withoutSchema.analysis).toEqual({ ...agent.analysis, schema: undefined } as typeof agent.analysis);
  const empty = await change(service.agents, agent, { clear: ["analysisPrompt"] });
  expect(empty.analysis).toEqual({ enabled: false, prompt: undefined, schema: undefined });
  const { versionsDeleted } = await service.prompts.deletePrompt({
    ownerId: agent.ownerId,
    promptName: "sums up",
    idempotency: undefined,
  });
  expect(versionsDeleted).toBe(1);
});

test("analysis without a prompt is refused, whichever change would lead to it", async () => {
  const enabled = settings({ enabled: true });
  expect(await failure(service.agents.createAgent(creation(newOwner(), { analysis: enabled })))).toEqual(REQUIRED);
  const plain = await create(service.agents, creation(newOwner()));
  expect(await failure(service.agents.updateAgent(update(plain, { analysis: enabled })))).toEqual(REQUIRED);
  const agent = await analysed();
  expect(await failure(service.agents.updateAgent(update(agent, { clear: ["analysisPrompt"] })))).toEqual(REQUIRED);
  const both = update(agent, { clear: ["analysisPrompt"], analysis: settings({ enabled: false }) });
  expect((await service.agents.updateAgent(both)).agent?.analysis).toMatchObject({ enabled: false, prompt: undefined });
});

test.each(["", "  ", "two\nlines", "x".repeat(101)])("a schema's field with the name %j is refused", async (name) => {
  const refused = await failure(analysed({ schema: { [name]: { type: "str" } } }));
  expect(refused).toMatchObject({ kind: "invalid", paths: ["call_analysis_schema"] });
  expect(refused.detail).toStartWith("The name of each field of call_analysis_schema must ");
});

test("a main prompt is refused for analysis, and an analysis prompt is refused as the main one", async () => {
  const owner = newOwner();
  await createPrompt(service.prompts, owner, "main");
  await createPrompt(service.prompts, owner, "sums up", "Sum up.", PromptType.PROMPT_TYPE_ANALYSIS);
  const analysis = settings({ enabled: true, prompt: byName("main") });
  expect(await failure(service.agents.createAgent(creation(owner, { analysis })))).toMatchObject({
    kind: "invalid",
    paths: ["call_analysis_prompt.prompt_name"],
  });
  expect(await failure(service.agents.createAgent(creation(owner, { prompt: byName("sums up") })))).toMatchObject({
    kind: "invalid",
    paths: ["prompt.prompt_name"],
  });
});
