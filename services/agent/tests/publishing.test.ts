import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AgentKnowledge,
  KnowledgeMode,
  Publishing,
  type TrafficShare,
} from "@parley/proto/parley/agent/v1/agent.ts";
import { KnowledgeServiceService, ResolvedBase } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { type RunningServer, serve } from "@parley/shared/rpc/server";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  changePrompt,
  create,
  createPrompt,
  creation,
  deletion,
  inline,
  present,
  startTestAgents,
  type TestAgents,
} from "./kit.ts";
import { createTool, httpTool, startSecrets, toolChange } from "./tools-kit.ts";

const { PUBLISHING_MANUAL: MANUAL, PUBLISHING_AUTO: AUTO } = Publishing;
/** The knowledge bases that there are. */
const bases = new Set<string>();

let accounts: Awaited<ReturnType<typeof startSecrets>>;
let knowledge: RunningServer;
let service: TestAgents;
beforeAll(async () => {
  accounts = await startSecrets();
  const resolve = (knowledgeBaseId: string) => ({
    knowledgeBase: bases.has(knowledgeBaseId) ? ResolvedBase.fromPartial({ knowledgeBaseId }) : undefined,
    isForeign: false,
  });
  knowledge = await serve(
    KnowledgeServiceService,
    { resolveKnowledgeBases: async ({ knowledgeBaseIds }) => ({ results: knowledgeBaseIds.map(resolve) }) },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  const env = { PARLEY_ACCOUNT_ADDRESS: accounts.address, PARLEY_KNOWLEDGE_ADDRESS: knowledge.address };
  service = await startTestAgents(env);
});
afterAll(async () => {
  await service.stop();
  await accounts.stop();
  await knowledge.stop();
});

interface Key {
  ownerId: string;
  agentId: string;
}

const manual = { publishing: MANUAL };

function publish({ ownerId, agentId }: Key, agentVersion: number, given: { note?: string; reason?: string } = {}) {
  const override = given.reason === undefined ? undefined : { reason: given.reason };
  const request = { ownerId, agentId, agentVersion, override, idempotency: undefined };
  return service.agents.publishAgentVersion({ ...request, note: given.note });
}

function split({ ownerId, agentId }: Key, shares: Readonly<Record<number, number>>) {
  const given = Object.entries(shares).map(
    ([version, weight]): TrafficShare => ({ agentVersion: Number(version), weight }),
  );
  return service.agents.setTraffic({ ownerId, agentId, split: given, override: undefined, idempotency: undefined });
}

async function pointer({ ownerId, agentId }: Key) {
  const { results } = await service.agents.batchGetPointers({ keys: [{ ownerId, agentId }] });
  return present(results[0]?.pointer);
}

async function log({ agentId }: Key) {
  const rows = await service.sql`
    select number, kind, agent_version, split, note, override_reason from agent_publishes
    where agent_id = ${agentId} order by number`;
  return rows.map(({ number, kind, agent_version, split: shares, note, override_reason }) =>
    [number, kind, agent_version ?? shares, note, override_reason].filter((part) => part !== null),
  );
}

test("publishing a version of a manual agent has new conversations get it, and keeps publishing manual", async () => {
  const agent = await create(service.agents, creation(newOwner(), manual));
  await change(service.agents, agent, { agentName: "Second" });
  const published = await publish(agent, 2, { note: "Opens", reason: "Tested by hand" });
  expect(published).toMatchObject({ publishing: MANUAL, becameManual: false });
  expect(published.publish).toMatchObject({
    number: 1,
    kind: "publish",
    agentVersion: 2,
    note: "Opens",
    createdBy: "",
  });
  expect(await pointer(agent)).toMatchObject({ publishedVersion: 2, latestVersion: 2 });
  expect(await log(agent)).toEqual([[1, "publish", 2, "Opens", "Tested by hand"]]);
});

test("rolling back is publishing an older version: it makes publishing manual, says so, and stands in the log", async () => {
  const agent = await create(service.agents, creation(newOwner()));
  await change(service.agents, agent, { agentName: "Second" });
  const back = await publish(agent, 1);
  expect(back).toMatchObject({
    publishing: MANUAL,
    becameManual: true,
    publish: { kind: "rollback", agentVersion: 1 },
  });
  expect(await pointer(agent)).toMatchObject({ publishedVersion: 1, latestVersion: 2 });
  const changed = await change(service.agents, agent, { agentName: "Third" });
  expect(changed).toMatchObject({ publishing: MANUAL, latestVersion: 3, publishedVersion: 1 });
  expect(await log(agent)).toEqual([
    [1, "automatic", 1],
    [2, "automatic", 2],
    [3, "rollback", 1],
  ]);
});

test("a repeated publish with one idempotency key is one entry of the log", async () => {
  const agent = await create(service.agents, creation(newOwner(), manual));
  const request = { ownerId: agent.ownerId, agentId: agent.agentId, agentVersion: 1, override: undefined };
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  const first = await service.agents.publishAgentVersion({ ...request, idempotency });
  expect(await service.agents.publishAgentVersion({ ...request, idempotency })).toEqual(first);
  expect(await log(agent)).toHaveLength(1);
  await service.agents.deleteAgent(deletion(agent));
  expect(await service.agents.publishAgentVersion({ ...request, idempotency })).toEqual(first);
});

test("a version that there is not, and another owner's agent, cannot be published", async () => {
  const agent = await create(service.agents, creation(newOwner()));
  for (const version of [0, -1, 2])
    expect(await failure(publish(agent, version))).toMatchObject({
      kind: "not_found",
      detail: "Agent version not found",
    });
  expect(await failure(publish({ ...agent, ownerId: newOwner() }, 1))).toMatchObject({ kind: "forbidden" });
  expect(await failure(split(agent, { 1: 50, 2: 50 }))).toMatchObject({
    kind: "not_found",
    paths: ["split.1.agent_version"],
  });
});

test("publishing a version is refused with all of what it needs and is gone: prompt, secret, tool, number, agent, knowledge base", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  accounts.secrets.set(ownerId, ["shop_key"]);
  await createPrompt(prompts, ownerId, "sales");
  const [base, number, lost] = [newId("kb"), "+14155550191", "+14155550190"];
  bases.add(base);
  const header = { name: "X-Key", value: { $case: "secret" as const, value: "shop_key" } };
  const { toolId } = await createTool(agents, ownerId, httpTool("look_up", { headers: [header] }));
  const other = await create(agents, creation(ownerId));
  const use: AgentKnowledge = {
    knowledgeBaseId: base,
    mode: KnowledgeMode.KNOWLEDGE_MODE_TOOL,
    maxChunks: 6,
    maxCharacters: 8_000,
  };
  const agent = await create(
    agents,
    creation(ownerId, {
      prompt: byName("sales"),
      customTools: [{ toolId }],
      agentMobileNumbers: [number, lost],
      handoffs: [{ agentId: other.agentId, when: "asked", context: 1, keepVoice: false, greet: false }],
      knowledge: [use],
    }),
  );
  const clear = ["prompt", "customTools", "agentMobileNumbers", "handoffs", "knowledge"];
  await change(agents, agent, { clear });
  await prompts.deletePrompt({ ownerId, promptName: "sales", idempotency: undefined });
  await agents.deleteTool({ ownerId, toolId, idempotency: undefined });
  await agents.deleteAgent(deletion(other));
  const now = await create(agents, creation(ownerId, { agentMobileNumbers: [number] }));
  accounts.secrets.set(ownerId, []);
  accounts.lostNumbers.add(lost);
  bases.delete(base);
  const refused = await failure(publish(agent, 1));
  expect(refused.kind).toBe("conflict");
  for (const gone of [
    "there is no version 1 of prompt sales",
    "there is no secret shop_key",
    "there is no tool look_up",
    `there is no agent ${other.agentId} to hand over to`,
    `there is no knowledge base ${base}`,
    `agent_mobile_number ${number} is already answered by the agent ${now.agentId}`,
    `the phone number ${lost} is no longer one of this account's`,
  ])
    expect(refused.detail).toContain(gone);
  expect(refused.paths).toEqual(Array(7).fill("agent_version"));
  expect(await failure(split(agent, { 1: 50, 2: 50 }))).toEqual(refused);
  expect(await pointer(agent)).toMatchObject({ publishedVersion: 2 });
});

test("a prompt cannot be deleted while a published version has it that is not the newest", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  await createPrompt(prompts, ownerId, "sales");
  const agent = await create(agents, creation(ownerId, { prompt: byName("sales") }));
  await change(agents, agent, { prompt: inline("Own."), ...manual });
  const gone = { ownerId, promptName: "sales", idempotency: undefined };
  expect(await failure(prompts.deletePrompt(gone))).toMatchObject({ kind: "conflict" });
  await publish(agent, 2);
  expect(await prompts.deletePrompt(gone)).toMatchObject({ versionsDeleted: 1 });
});

test("the prompt of an analysis cannot be deleted while a version in use has it, and one that is gone keeps its version from being published", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  await createPrompt(prompts, ownerId, "sums up", "Sum up.", PromptType.PROMPT_TYPE_ANALYSIS);
  const analysis = { enabled: true, prompt: byName("sums up"), schema: undefined };
  const agent = await create(agents, creation(ownerId, { analysis }));
  await change(agents, agent, { agentName: "Other" });
  const gone = { ownerId, promptName: "sums up", idempotency: undefined };
  expect(await failure(prompts.deletePrompt(gone))).toMatchObject({ kind: "conflict" });
  const without = { ...analysis, enabled: false, prompt: undefined };
  await change(agents, agent, { clear: ["analysisPrompt"], analysis: without });
  await prompts.deletePrompt(gone);
  const refused = { kind: "conflict", detail: expect.stringContaining("there is no version 1 of prompt sums up") };
  expect(await failure(publish(agent, 1))).toMatchObject(refused);
});

test("a prompt is free once another version is published in place of the one that has it, also by a change to auto", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  await createPrompt(prompts, ownerId, "sales");
  const agent = await create(agents, creation(ownerId, { prompt: byName("sales") }));
  await change(agents, agent, { prompt: inline("Own."), ...manual });
  await change(agents, agent, { publishing: AUTO });
  expect(await prompts.deletePrompt({ ownerId, promptName: "sales", idempotency: undefined })).toMatchObject({
    versionsDeleted: 1,
  });
});

test("a prompt, its label and a tool cannot be deleted while a version has them that is published or has a share of the traffic", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  const label = { ownerId, promptName: "sales", label: "live", idempotency: undefined };
  await createPrompt(prompts, ownerId, "sales");
  await prompts.setPromptLabel({ ...label, promptVersion: 1 });
  const { toolId } = await createTool(agents, ownerId, httpTool("look_up"));
  const prompt = { source: { $case: "reference" as const, value: { promptName: "sales", promptLabel: "live" } } };
  const agent = await create(agents, creation(ownerId, { prompt, customTools: [{ toolId }] }));
  await change(agents, agent, { prompt: inline("Own."), customTools: { values: [] }, ...manual });
  const deletions = [
    () => agents.deleteTool({ ownerId, toolId, idempotency: undefined }),
    () => prompts.deletePromptLabel(label),
    () => prompts.deletePrompt({ ownerId, promptName: "sales", idempotency: undefined }),
  ];
  const refusals = async () => {
    for (const remove of deletions) expect(await failure(remove())).toMatchObject({ kind: "conflict" });
  };
  await refusals();
  await split(agent, { 1: 10, 2: 90 });
  await publish(agent, 2);
  await split(agent, { 1: 10, 2: 90 });
  await refusals();
  await publish(agent, 2);
  for (const remove of deletions) await remove();
});

test("a prompt of a version that was refused to be published can be deleted at once", async () => {
  const { agents, prompts } = service;
  const ownerId = newOwner();
  await createPrompt(prompts, ownerId, "sales");
  const { toolId } = await createTool(agents, ownerId, httpTool("look_up"));
  const agent = await create(agents, creation(ownerId, { prompt: byName("sales"), customTools: [{ toolId }] }));
  await change(agents, agent, { clear: ["prompt", "customTools"] });
  await agents.deleteTool({ ownerId, toolId, idempotency: undefined });
  expect(await failure(publish(agent, 1))).toMatchObject({ kind: "conflict" });
  expect(await prompts.deletePrompt({ ownerId, promptName: "sales", idempotency: undefined })).toMatchObject({
    versionsDeleted: 1,
  });
});

test("a secret counts as used while the tool of a published version has it, though the library's tool has another", async () => {
  const { agents } = service;
  const ownerId = newOwner();
  accounts.secrets.set(ownerId, ["old_key", "new_key", "shop_login"]);
  const withSecret = (value: string) => {
    const header = { name: "X-Key", value: { $case: "secret" as const, value } };
    return httpTool("look_up", {
      headers: [header],
      auth: { kind: { $case: "bearer", value: { secret: "shop_login" } } },
    });
  };
  const tool = await createTool(agents, ownerId, withSecret("old_key"));
  const customTools = [{ toolId: tool.toolId }];
  const agent = await create(agents, creation(ownerId, { customTools, prompt: inline('Not "old_key".') }));
  await change(agents, agent, manual);
  await agents.updateTool(toolChange(ownerId, tool, withSecret("new_key"), ["headers"]));
  const users = async (secretName: string) => (await agents.listSecretUsers({ ownerId, secretName })).toolNames;
  const names = ["old_key", "new_key", "shop_login", "look_up"];
  expect(await Promise.all(names.map(users))).toEqual([["look_up"], ["look_up"], ["look_up"], []]);
  await publish(agent, 3);
  expect(await users("old_key")).toEqual([]);
});

test("whatever changes, publishes and deletions happen at once, versions and the log have no gaps, and the newest version has the newest prompt and tool", async () => {
  const { agents, prompts, sql } = service;
  const ownerId = newOwner();
  await createPrompt(prompts, ownerId, "sales", "0");
  const tool = await createTool(agents, ownerId, httpTool("tool_0"));
  const given = { prompt: byName("sales"), customTools: [{ toolId: tool.toolId }] };
  const [agent, gone] = [
    await create(agents, creation(ownerId, given)),
    await create(agents, creation(ownerId, given)),
  ];
  const rounds = [1, 2, 3].map((round) => [
    change(agents, agent, { agentTips: { values: [`${round}`] } }),
    change(agents, agent, { prompt: byName("sales"), publishing: round % 2 === 0 ? AUTO : MANUAL }),
    changePrompt(service, ownerId, "sales", `${round}`),
    agents.updateTool(toolChange(ownerId, tool, httpTool(`tool_${round}`), ["name"])),
    publish(agent, 1),
    split(agent, { 1: 100 }),
  ]);
  const ends = Promise.allSettled([publish(gone, 1), agents.deleteAgent(deletion(gone)), publish(gone, 1)]);
  await Promise.all(rounds.flat());
  expect((await ends)[1]?.status).toBe("fulfilled");
  const numbers = async (table: string, column: string) => {
    const rows = await sql<{ agentId: string; number: number }[]>`
      select agent_id as "agentId", ${sql(column)} as number from ${sql(table)} where owner_id = ${ownerId} order by number`;
    expect(new Set(rows.map(({ agentId }) => agentId))).toEqual(new Set([agent.agentId]));
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, at) => at + 1));
    return rows.length;
  };
  await numbers("agent_publishes", "number");
  const { latestVersion, publishedVersion = 0 } = await pointer(agent);
  expect(await numbers("agent_versions", "agent_version")).toBe(latestVersion);
  const { version } = await agents.getAgentVersion({ ...agent, agentVersion: latestVersion });
  const newest = await prompts.getPrompt({ ownerId, reference: { promptName: "sales" } });
  expect(version?.agent?.prompt?.promptContent).toBe(newest.prompt?.promptContent ?? "");
  expect(version?.tools[0]?.name).toBe((await agents.getTool({ ownerId, toolId: tool.toolId })).tool?.name ?? "");
  if (version?.agent?.publishing === AUTO) expect(publishedVersion).toBe(latestVersion);
});

describe("numbers", () => {
  const NUMBER = "+14155550192";
  const callee = (ownerId: string) => service.agents.findCallee({ called: NUMBER, ofOwnerId: ownerId });

  test("are answered by the agent whose published version has them", async () => {
    const ownerId = newOwner();
    const agent = await create(service.agents, creation(ownerId, { ...manual, agentMobileNumbers: [NUMBER] }));
    expect((await callee(ownerId)).agent).toBeUndefined();
    await publish(agent, 1);
    expect((await callee(ownerId)).agent?.agentId).toBe(agent.agentId);
    const changed = await change(service.agents, agent, { clear: ["agentMobileNumbers"] });
    expect(changed).toMatchObject({ agentMobileNumbers: [], publishedNumbers: [NUMBER] });
    expect((await callee(ownerId)).agent?.agentId).toBe(agent.agentId);
    await publish(agent, 2);
    expect((await callee(ownerId)).agent).toBeUndefined();
  });

  test("that another agent takes over are no longer those that a manual agent calls from", async () => {
    const ownerId = newOwner();
    const kept = "+14155550193";
    const agent = await create(service.agents, creation(ownerId, { agentMobileNumbers: [NUMBER, kept] }));
    await change(service.agents, agent, manual);
    await create(service.agents, creation(ownerId, { agentMobileNumbers: [NUMBER], moveNumbers: true }));
    expect((await service.agents.listCallerNumbers(agent)).mobileNumbers).toEqual([kept]);
  });

  test("of an agent that was never published are those that its calls come from", async () => {
    const fields = creation(newOwner(), { agentMobileNumbers: [NUMBER], ...manual });
    const agent = await create(service.agents, fields);
    expect((await service.agents.listCallerNumbers(agent)).mobileNumbers).toEqual([NUMBER]);
    await publish(agent, 1);
    await change(service.agents, agent, { agentMobileNumbers: { values: ["+14155550193"] } });
    expect((await service.agents.listCallerNumbers(agent)).mobileNumbers).toEqual([NUMBER]);
  });

  test("of a manual agent may be another's until it is published", async () => {
    const ownerId = newOwner();
    const other = await create(service.agents, creation(ownerId, { agentMobileNumbers: [NUMBER] }));
    const agent = await create(service.agents, creation(ownerId, { ...manual, agentMobileNumbers: [NUMBER] }));
    expect(await failure(publish(agent, 1))).toMatchObject({ kind: "conflict" });
    await change(service.agents, other, { clear: ["agentMobileNumbers"] });
    await publish(agent, 1);
    expect((await callee(ownerId)).agent?.agentId).toBe(agent.agentId);
  });
});

describe("traffic", () => {
  const counts = (slots: readonly number[]) =>
    Object.fromEntries(
      [...new Set(slots)].toSorted().map((version) => [version, slots.filter((v) => v === version).length]),
    );

  test("is split between versions, keeps callers while weights change, and ends with the next publish", async () => {
    const agent = await create(service.agents, creation(newOwner()));
    await change(service.agents, agent, { agentName: "Second" });
    expect((await service.agents.getTraffic(agent)).split).toEqual([{ agentVersion: 2, weight: 100 }]);
    expect(await split(agent, { 1: 30, 2: 70 })).toMatchObject({ publishing: MANUAL, becameManual: true });
    const first = await pointer(agent);
    expect([first.publishedVersion, counts(first.slots)]).toEqual([2, { 1: 30, 2: 70 }]);
    await split(agent, { 1: 60, 2: 40 });
    const second = await pointer(agent);
    expect([counts(second.slots), second.salt]).toEqual([{ 1: 60, 2: 40 }, first.salt]);
    expect(first.slots.filter((version, slot) => version === 1 && second.slots[slot] !== 1)).toEqual([]);
    expect((await service.agents.getTraffic(agent)).split).toEqual([
      { agentVersion: 1, weight: 60 },
      { agentVersion: 2, weight: 40 },
    ]);
    await publish(agent, 2);
    expect(await pointer(agent)).toMatchObject({ publishedVersion: 2, salt: "", slots: [] });
    expect((await log(agent)).slice(2).map(([, kind]) => kind)).toEqual(["traffic", "traffic", "publish"]);
  });

  test("of the newest version alone leaves publishing auto, and the next change publishes its version", async () => {
    const agent = await create(service.agents, creation(newOwner()));
    expect(await split(agent, { 1: 100 })).toMatchObject({ publishing: AUTO, becameManual: false });
    await change(service.agents, agent, { agentName: "Second" });
    expect(await pointer(agent)).toMatchObject({ publishedVersion: 2, slots: [] });
  });

  test("of the newest version alone ends when the agent follows a changed prompt", async () => {
    const ownerId = newOwner();
    await createPrompt(service.prompts, ownerId, "sales");
    const agent = await create(service.agents, creation(ownerId, { prompt: byName("sales") }));
    await split(agent, { 1: 100 });
    await changePrompt(service, ownerId, "sales", "Be kind.");
    expect(await pointer(agent)).toMatchObject({ publishedVersion: 2, slots: [] });
  });

  test("leaves the numbers to the published version", async () => {
    const [ownerId, called] = [newOwner(), "+14155550194"];
    const agent = await create(service.agents, creation(ownerId, { agentMobileNumbers: [called] }));
    await change(service.agents, agent, { ...manual, clear: ["agentMobileNumbers"] });
    await split(agent, { 1: 1, 2: 99 });
    expect((await service.agents.findCallee({ called, ofOwnerId: ownerId })).agent?.agentId).toBe(agent.agentId);
  });

  test("of an agent without a published version cannot be split", async () => {
    const agent = await create(service.agents, creation(newOwner(), manual));
    expect(await failure(split(agent, { 1: 100 }))).toMatchObject({ kind: "conflict" });
    expect((await service.agents.getTraffic(agent)).split).toEqual([]);
  });
});
