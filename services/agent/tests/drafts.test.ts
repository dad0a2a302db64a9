import { afterAll, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  create,
  createPrompt,
  creation,
  customLlm,
  inline,
  present,
  read,
  startTestAgents,
  update,
} from "./kit.ts";
import { createTool, httpTool, toolChange } from "./tools-kit.ts";

const A = "https://a.example/v1";
const KEY = "sk-primary-0123456789";
const MASK = "********6789";

const service = await startTestAgents();
afterAll(() => service.stop());

const newAgent = () =>
  create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY), prompt: inline("Be brief.") }));

async function draft(agent: Agent, given: Partial<UpdateAgentRequest>): Promise<string> {
  return (await service.agents.createDraft({ change: update(agent, given) })).draftId;
}

async function runtime({ ownerId, agentId }: Agent, draftId: string) {
  return present((await service.agents.getDraftRuntime({ ownerId, agentId, draftId })).runtime);
}

test("a draft is the agent as a PATCH would make it, and the agent and its prompts stay as they are", async () => {
  const agent = await newAgent();
  await createPrompt(service.prompts, agent.ownerId, "polite", "Be polite.");
  const versions = () =>
    service.prompts.listPrompts({ ownerId: agent.ownerId, page: { number: 1, size: 10 } } as never);
  const before = [await read(service.agents, agent), await versions()];
  const own = await draft(agent, {
    prompt: inline("Be long."),
    firstMessagePrompt: "Hello!",
    agentName: "Back office",
  });
  expect(await runtime(agent, own)).toMatchObject({
    agentName: "Back office",
    firstMessagePrompt: "Hello!",
    prompt: { promptVersion: 0, promptContent: "Be long." },
  });
  const named = await draft(agent, { prompt: byName("polite") });
  expect((await runtime(agent, named)).prompt?.promptContent).toBe("Be polite.");
  const cleared = await draft(agent, { clear: ["prompt"] });
  expect((await runtime(agent, cleared)).prompt).toBeUndefined();
  expect([await read(service.agents, agent), await versions()]).toEqual(before);
});

test("a draft of an earlier version has its prompt and tools, today's keys, and the changes", async () => {
  const ownerId = newOwner();
  const tool = await createTool(service.agents, ownerId, httpTool("look_up"));
  const given = { llm: customLlm(A, KEY), prompt: inline("Be brief."), customTools: [{ toolId: tool.toolId }] };
  const agent = await create(service.agents, creation(ownerId, given));
  await service.agents.updateTool(toolChange(ownerId, tool, httpTool("find"), ["name"]));
  await change(service.agents, agent, { llm: customLlm(A, "sk-secondary-012345"), prompt: inline("Be long.") });
  const tried = async (agentVersion: number | undefined, changed: Partial<UpdateAgentRequest> = {}) => {
    const { draftId } = await service.agents.createDraft({ change: update(agent, changed), agentVersion });
    const { prompt, llm, agentName, customTools } = await runtime(agent, draftId);
    const tools = customTools.map(({ name }) => name);
    return { text: prompt?.promptContent, key: llm?.params?.apiKey, tools, agentName };
  };
  const { agentName } = agent;
  const today = { key: "sk-secondary-012345", agentName };
  expect(await tried(1)).toEqual({ text: "Be brief.", tools: ["look_up"], ...today });
  expect(await tried(2)).toEqual({ text: "Be brief.", tools: ["find"], ...today });
  expect(await tried(undefined)).toEqual({ text: "Be long.", tools: ["find"], ...today });
  expect(await tried(1, { agentName: "Desk" })).toMatchObject({ text: "Be brief.", agentName: "Desk" });
  expect(await serviceErrorOf(tried(4))).toMatchObject({ kind: "not_found", detail: "Agent version not found" });
});

test("a mask in a draft stands for the agent's own key, which stays sealed", async () => {
  const agent = await newAgent();
  const masked = await draft(agent, { llm: { ...customLlm(A, MASK), modelName: "another" } });
  expect((await runtime(agent, masked)).llm).toMatchObject({ modelName: "another", params: { apiKey: KEY } });
  const fresh = await draft(agent, { llm: customLlm(A, "sk-unsaved-zzzzzzz") });
  expect((await runtime(agent, fresh)).llm?.params?.apiKey).toBe("sk-unsaved-zzzzzzz");
  const rows = await service.sql<{ content: string }[]>`select content::text from agent_drafts`;
  for (const { content } of rows) expect(content).not.toMatch(/sk-/);
  const elsewhere = draft(agent, { llm: customLlm("https://evil.example/v1", MASK) });
  expect(await serviceErrorOf(elsewhere)).toMatchObject({ kind: "invalid" });
});

test("a draft that a PATCH would refuse is refused the same way", async () => {
  const agent = await newAgent();
  const refusals: [Partial<UpdateAgentRequest>, object][] = [
    [
      { llm: customLlm("http://127.0.0.1/v1", "k") },
      { kind: "invalid", violations: [{ path: "llm.params.base_url" }] },
    ],
    [{ prompt: byName("unknown") }, { kind: "not_found", detail: "Prompt not found" }],
    [{ prompt: inline("") }, { kind: "invalid", violations: [{ path: "prompt_content" }] }],
    [
      { analysis: { enabled: true, prompt: undefined, schema: undefined } },
      { violations: [{ path: "call_analysis_prompt" }] },
    ],
  ];
  for (const [given, refusal] of refusals) {
    const errors = [draft(agent, given), service.agents.updateAgent(update(agent, given))].map(serviceErrorOf);
    for (const error of await Promise.all(errors)) expect(error).toMatchObject(refusal);
  }
});

test("a draft belongs to its owner and its agent", async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  const draftId = await draft(agent, {});
  const foreign = [
    { ...agent, ownerId: other.ownerId },
    { ...agent, agentId: other.agentId },
  ];
  for (const each of foreign) expect(await serviceErrorOf(runtime(each, draftId))).toMatchObject({ kind: "not_found" });
  expect(await serviceErrorOf(runtime(agent, "drf_none"))).toMatchObject({ kind: "not_found" });
  const theirs = draft({ ...other, ownerId: agent.ownerId }, {});
  expect(await serviceErrorOf(theirs)).toMatchObject({ kind: "forbidden" });
});

test("a call on a draft uses the draft's speech settings", async () => {
  const agent = await newAgent();
  const { ownerId, agentId } = agent;
  const stt = {
    providerName: "CUSTOM_STT",
    modelName: "any",
    language: undefined,
    endpoint: { baseUrl: A, apiKey: KEY },
  };
  const draftId = await draft(agent, { stt });
  expect((await service.agents.getSpeech({ ownerId, agentId, draftId })).stt).toEqual(stt);
  expect((await service.agents.getSpeech({ ownerId, agentId })).stt).toBeUndefined();
});

test("drafts expire after a day, and an owner's oldest ones go when they are more than 16 MiB together", async () => {
  const agent = await newAgent();
  const big = () => draft(agent, { prompt: inline("x".repeat(500_000)) });
  const first = await big();
  const drafts = [];
  for (let made = 0; made < 33; made++) {
    service.clock.advance(1);
    drafts.push(await big());
  }
  expect(await serviceErrorOf(runtime(agent, first))).toMatchObject({ kind: "not_found" });
  const newest = drafts.at(-1) ?? "";
  expect((await runtime(agent, newest)).prompt?.promptContent).toHaveLength(500_000);
  service.clock.advance(24 * 60 * 60_000);
  expect(await serviceErrorOf(runtime(agent, newest))).toMatchObject({ kind: "not_found" });
});
