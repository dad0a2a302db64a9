import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type LlmConfig, Publishing, StartWebhook, SttConfig, TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access, type CreateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { AGENT_FIELDS, type AgentField, agentFields } from "@parley/shared/domain/agent-fields";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  byName,
  change,
  changePrompt,
  create,
  createPrompt,
  creation,
  customLlm,
  deletion,
  inline,
  present,
  read,
  startTestAgents,
  type TestAgents,
  update,
} from "./kit.ts";
import { createTool, httpTool, startSecrets, toolChange } from "./tools-kit.ts";
import { EVERYTHING } from "./values.ts";

const { PUBLISHING_MANUAL: MANUAL, PUBLISHING_AUTO: AUTO } = Publishing;
const A = "https://a.example/v1";

let accounts: Awaited<ReturnType<typeof startSecrets>>;
let service: TestAgents;
beforeAll(async () => {
  accounts = await startSecrets();
  service = await startTestAgents({ PARLEY_ACCOUNT_ADDRESS: accounts.address });
});
afterAll(async () => {
  await service.stop();
  await accounts.stop();
});

interface Key {
  ownerId: string;
  agentId: string;
}

async function runtime({ ownerId, agentId }: Key, agentVersion: number) {
  const { results } = await service.agents.batchGetAgentRuntimes({ keys: [{ ownerId, agentId, agentVersion }] });
  return present(results[0]?.runtime);
}

async function pointer({ ownerId, agentId }: Key) {
  const { results } = await service.agents.batchGetPointers({ keys: [{ ownerId, agentId }] });
  return present(results[0]?.pointer);
}

const manual = { publishing: MANUAL };

test("each creation and change of an agent makes the next version, which stays as it was", async () => {
  const agent = await create(service.agents, creation(newOwner(), { prompt: inline("One.") }));
  expect(agent).toMatchObject({ agentVersion: 1, latestVersion: 1, publishedVersion: 1, publishing: AUTO });
  await change(service.agents, agent, { prompt: inline("Two.") });
  const third = await change(service.agents, agent, { agentName: "Third" });
  expect(third).toMatchObject({ agentVersion: 3, latestVersion: 3, publishedVersion: 3 });
  expect(await change(service.agents, agent, {})).toMatchObject({ agentVersion: 4, latestVersion: 4 });
  const texts = await Promise.all([1, 2, 3].map((version) => runtime(agent, version)));
  expect(texts.map(({ agentName, agentVersion, prompt }) => [agentVersion, agentName, prompt?.promptContent])).toEqual([
    [1, "Front desk", "One."],
    [2, "Front desk", "Two."],
    [3, "Third", "Two."],
  ]);
});

test("a version has every field of the agent as it was", async () => {
  const ownerId = newOwner();
  await createPrompt(service.prompts, ownerId, "sums up", "Sum up.", PromptType.PROMPT_TYPE_ANALYSIS);
  const analysis = { enabled: true, prompt: byName("sums up"), schema: { solved: { type: "bool" } } };
  const { toolId } = await createTool(service.agents, ownerId, httpTool("look_up"));
  const { agentId } = await create(service.agents, creation(ownerId));
  const given = {
    ...{ ...EVERYTHING, prompt: inline("One."), analysis, customTools: [{ toolId }] },
    handoffs: [Handoff.fromPartial({ agentId, when: "asked" })],
    ...{
      timezone: "Europe/Berlin",
      recording: true,
      whatsapp: { voice_replies: true },
      callSettings: { any: "thing" },
    },
    startWebhook: StartWebhook.fromPartial({ url: "https://crm.example" }),
  };
  const agent = await create(service.agents, creation(ownerId, given));
  const isEmpty = (field: AgentField) => Bun.deepEquals(agent[field] ?? null, AGENT_FIELDS[field].empty);
  // Needs another service.
  expect(agentFields.filter(isEmpty)).toEqual(["knowledge"]);
  const clear = [...Object.keys(given), "analysisSchema"];
  const changed = await change(service.agents, agent, { clear, agentName: "Other" });
  const { latestVersion, publishedVersion, publishedNumbers, updatedAt } = changed;
  const { version } = await service.agents.getAgentVersion({ ...agent, agentVersion: 1 });
  const { startWebhook } = agent;
  // Its secret is shown once.
  const shown = { ...agent, startWebhook: startWebhook && { ...startWebhook, secret: expect.any(String) } };
  expect(version?.agent).toEqual({ ...shown, latestVersion, publishedVersion, publishedNumbers, updatedAt });
  expect(version?.analysisPrompt?.promptContent).toBe("Sum up.");
});

test("changes at once make versions without a gap", async () => {
  const agent = await create(service.agents, creation(newOwner()));
  const names = Array.from({ length: 8 }, (_, at) => `${at}`);
  const changed = await Promise.all(names.map((agentName) => change(service.agents, agent, { agentName })));
  expect(changed.map(({ agentVersion }) => agentVersion).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a refused change makes no version", async () => {
  const agent = await create(service.agents, creation(newOwner()));
  await failure(change(service.agents, agent, { timezone: "Mars" }));
  expect(await pointer(agent)).toMatchObject({ latestVersion: 1 });
});

test("a version that there is not, and one of another owner's agent, are told apart", async () => {
  const agent = await create(service.agents, creation(newOwner()));
  const keys = [
    { ...agent, agentVersion: 2 },
    { ...agent, ownerId: newOwner(), agentVersion: 1 },
  ];
  const { results } = await service.agents.batchGetAgentRuntimes({ keys });
  expect(results.map(({ access }) => access)).toEqual([Access.ACCESS_NOT_FOUND, Access.ACCESS_DENIED]);
});

test("an agent with manual publishing has no published version until one is published", async () => {
  const { agents } = service;
  const agent = await create(agents, creation(newOwner(), { ...manual, widgetConfig: { title: "New" } }));
  expect(agent).toMatchObject({ publishing: MANUAL, latestVersion: 1, publishedVersion: undefined });
  expect(await pointer(agent)).toMatchObject({ publishedVersion: undefined, latestVersion: 1, slots: [] });
  const refused = { kind: "conflict", detail: "Agent has no published version" };
  const { ownerId, agentId } = agent;
  expect(await failure(agents.getSpeech({ ownerId, agentId }))).toMatchObject(refused);
  expect(await failure(agents.getWidget(agent))).toMatchObject(refused);
  expect(await failure(agents.getChannelSettings(agent))).toMatchObject(refused);
});

test("what conversations and channels read of a manual agent is its published version's until another is published", async () => {
  const { agents } = service;
  const first = { widgetConfig: { title: "One" }, whatsapp: { voice_replies: true } };
  const agent = await create(agents, creation(newOwner(), first));
  const second = { widgetConfig: { title: "Two" }, whatsapp: { voice_replies: false } };
  const changed = await change(agents, agent, { ...manual, ...second, versionNote: "Quieter" });
  expect(changed).toMatchObject({ latestVersion: 2, publishedVersion: 1, widgetConfig: { title: "Two" } });
  expect((await agents.getWidget(agent)).widgetConfig).toEqual({ title: "One" });
  expect((await agents.getChannelSettings(agent)).whatsapp).toEqual({ voice_replies: true });
  await change(agents, agent, { publishing: AUTO });
  expect((await agents.getWidget(agent)).widgetConfig).toEqual({ title: "Two" });
  expect(await pointer(agent)).toMatchObject({ publishedVersion: 3, latestVersion: 3 });
});

describe("keys", () => {
  test("are those of today in every version, so that rolling back uses the current key", async () => {
    const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, "sk-first-0000000") }));
    await change(service.agents, agent, { llm: customLlm(A, "sk-second-000000") });
    expect((await runtime(agent, 1)).llm?.params?.apiKey).toBe("sk-second-000000");
    await change(service.agents, agent, { clear: ["llm"] });
    expect((await runtime(agent, 1)).llm?.params?.apiKey).toBe("sk-second-000000");
  });

  test("count up the agent's revision when they change, and not when a mask is sent back", async () => {
    const owner = newOwner();
    const [agent, other] = [
      await create(service.agents, creation(owner, { llm: customLlm(A, "sk-first-0000000") })),
      await create(service.agents, creation(owner)),
    ];
    const before = await pointer(agent);
    await change(service.agents, agent, { llm: present(agent.llm) });
    expect((await pointer(agent)).keysRevision).toBe(before.keysRevision);
    await change(service.agents, agent, { llm: customLlm(A, "sk-second-000000") });
    expect((await pointer(agent)).keysRevision).toBeGreaterThan(before.keysRevision);
    expect((await runtime(agent, 1)).keysRevision).toBe((await pointer(agent)).keysRevision);
    expect((await pointer(other)).keysRevision).toBe(0);
  });

  test("that sign a tool's requests are today's in every version, and count up the revisions of the owner's agents", async () => {
    const ownerId = newOwner();
    const tool = await createTool(service.agents, ownerId, httpTool("look_up"));
    const agent = await create(service.agents, creation(ownerId, { customTools: [{ toolId: tool.toolId }] }));
    const before = await pointer(agent);
    await service.agents.rotateToolSecret({ ownerId, toolId: tool.toolId, idempotency: undefined });
    const after = await pointer(agent);
    expect(after).toMatchObject({ latestVersion: 1, keysRevision: before.keysRevision + 1 });
    const [secret] = (await runtime(agent, 1)).customTools[0]?.signingSecrets ?? [];
    expect(secret?.secret).not.toBe(tool.signingSecrets[0]?.secret);
  });

  test("of no kind are in a version, in any form", async () => {
    const startWebhook = StartWebhook.fromPartial({ url: "https://crm.example" });
    const given = { llm: customLlm(A, "sk-first-0000000"), startWebhook };
    const agent = await create(service.agents, creation(newOwner(), given));
    const [version] = await service.sql<{ text: string }[]>`
      select content::text as text from agent_versions where agent_id = ${agent.agentId}`;
    expect(version?.text).not.toContain("sealed");
    expect(version?.text).not.toContain("********");
  });
});

describe("a key that is a secret", () => {
  const withSecret = (name: string, fallbacks: LlmConfig[] = []): LlmConfig => {
    const { params, ...llm } = customLlm(A, "");
    return { ...llm, params: { ...params, apiKey: undefined, keySecret: name }, fallbacks };
  };
  const speech = (name: string) => {
    const endpoint = { baseUrl: A, keySecret: name };
    return {
      stt: SttConfig.fromPartial({ providerName: "CUSTOM_STT", modelName: "any", endpoint }),
      tts: TtsConfig.fromPartial({ providerName: "CUSTOM_TTS", voiceId: "any", endpoint }),
    };
  };
  const newSecrets = (...names: string[]) => {
    const ownerId = newOwner();
    accounts.secrets.set(ownerId, names);
    return ownerId;
  };
  const publish = ({ ownerId, agentId }: Key, agentVersion: number) =>
    service.agents.publishAgentVersion({
      ...{ ownerId, agentId, agentVersion },
      ...{ note: undefined, override: undefined, idempotency: undefined },
    });

  test("stands in the version, is shown, and is handed on by its name, and the same secret in a copy", async () => {
    const ownerId = newSecrets("main", "spare", "ears");
    const given = { llm: withSecret("main", [withSecret("spare")]), ...speech("ears") };
    const agent = await create(service.agents, creation(ownerId, given));
    expect(agent).toMatchObject(given);
    expect(await runtime(agent, 1)).toMatchObject(given);
    const { stt, tts } = await service.agents.getSpeech({ ownerId, agentId: agent.agentId });
    expect({ stt, tts }).toMatchObject(speech("ears"));
    const changed = await change(service.agents, agent, { llm: present(agent.llm), agentName: "Another" });
    const { llm } = changed;
    const copy = await create(service.agents, creation(ownerId, { llm: present(llm), copiedAgentId: agent.agentId }));
    expect([llm, copy.llm]).toMatchObject([given.llm, given.llm]);
    expect(await service.sql`select from agent_keys where owner_id = ${ownerId}`).toHaveLength(0);
  });

  test("takes the place of a text that the agent had, and gives it up for another", async () => {
    const ownerId = newSecrets("main");
    const agent = await create(service.agents, creation(ownerId, { llm: customLlm(A, "sk-first-0000000") }));
    await change(service.agents, agent, { llm: withSecret("main") });
    expect((await runtime(agent, 2)).llm?.params).toMatchObject({ keySecret: "main", apiKey: undefined });
    await change(service.agents, agent, { llm: customLlm(A, "sk-second-000000") });
    const keyOf = async (version: number) => (await runtime(agent, version)).llm?.params;
    expect(await keyOf(3)).toMatchObject({ keySecret: undefined, apiKey: "sk-second-000000" });
    expect(await keyOf(2)).toMatchObject({ keySecret: "main", apiKey: undefined });
  });

  test.each<[string, Partial<Pick<CreateAgentRequest, "llm" | "stt" | "tts">>]>([
    ["llm.params.api_key.secret", { llm: withSecret("gone") }],
    ["llm.fallbacks.0.params.api_key.secret", { llm: customLlm(A, "sk-first-0000000", [withSecret("gone")]) }],
    ["stt.params.api_key.secret", { stt: speech("gone").stt }],
    ["tts.params.api_key.secret", { tts: speech("gone").tts }],
  ])("must be one of the owner's own, and counts as used while a version in use has it: %s", async (path, given) => {
    const [ownerId, other] = [newSecrets(), newSecrets("gone")];
    const agent = await create(service.agents, creation(ownerId));
    const refused = {
      kind: "invalid",
      detail: `${path} must be one of your secrets: there is no gone`,
      paths: [path],
    };
    expect(await failure(service.agents.createAgent(creation(ownerId, given)))).toEqual(refused);
    const wrong = update(agent, given);
    expect(await failure(service.agents.updateAgent(wrong))).toEqual(refused);
    expect(await failure(service.agents.createDraft({ change: wrong, asksStartWebhook: false }))).toEqual(refused);

    const users = async (owner = other) =>
      (await service.agents.listSecretUsers({ ownerId: owner, secretName: "gone" })).agentIds;
    const using = await create(service.agents, creation(other, given));
    expect([await users(), await users(ownerId)]).toEqual([[using.agentId], []]);
    const clear = Object.keys(given);
    await change(service.agents, using, { clear, ...manual });
    expect(await users()).toEqual([using.agentId]);
    await publish(using, 2);
    expect(await users()).toEqual([]);
    accounts.secrets.set(other, []);
    expect(await failure(publish(using, 1))).toMatchObject({
      kind: "conflict",
      detail: "Version 1 cannot be published: there is no secret gone. Make a version without them",
    });
  });

  test("is revealed again for all of the owner's agents, and nobody else's, once a secret has changed", async () => {
    const [ownerId, other] = [newSecrets("main"), newOwner()];
    const [agent, theirs] = [
      await create(service.agents, creation(ownerId, { llm: withSecret("main") })),
      await create(service.agents, creation(other)),
    ];
    await service.agents.renewKeys({ ownerId });
    expect([await pointer(agent), await pointer(theirs)]).toMatchObject([{ keysRevision: 1 }, { keysRevision: 0 }]);
  });
});

describe("a change of a prompt", () => {
  test("gives each agent that follows it a new version: published at once with auto, unpublished with manual", async () => {
    const ownerId = newOwner();
    await createPrompt(service.prompts, ownerId, "sales", "One.");
    const [auto, pinned, byHand] = await Promise.all(
      [{ prompt: byName("sales") }, { prompt: byName("sales", 1) }, { prompt: byName("sales"), ...manual }].map(
        (given) => create(service.agents, creation(ownerId, given)),
      ),
    );
    await changePrompt(service, ownerId, "sales", "Two.");
    expect(await pointer(present(auto))).toMatchObject({ latestVersion: 2, publishedVersion: 2 });
    expect(await pointer(present(pinned))).toMatchObject({ latestVersion: 1, publishedVersion: 1 });
    expect(await pointer(present(byHand))).toMatchObject({ latestVersion: 2, publishedVersion: undefined });
    expect((await read(service.agents, present(byHand))).prompt?.promptContent).toBe("Two.");
    expect((await runtime(present(auto), 1)).prompt?.promptContent).toBe("One.");
    // Nobody's version changes when nothing has changed for it.
    await service.agents.followPrompt({ ownerId, promptName: "sales" });
    expect(await pointer(present(auto))).toMatchObject({ latestVersion: 2 });
  });

  test("reaches agents by a label only when the label moves", async () => {
    const ownerId = newOwner();
    const label = (promptVersion: number) =>
      service.prompts.setPromptLabel({
        ownerId,
        promptName: "sales",
        label: "live",
        promptVersion,
        idempotency: undefined,
      });
    await createPrompt(service.prompts, ownerId, "sales", "One.");
    await label(1);
    const reference = { promptName: "sales", promptLabel: "live" };
    const prompt = { source: { $case: "reference" as const, value: reference } };
    const agent = await create(service.agents, creation(ownerId, { prompt }));
    expect(agent).toMatchObject({ promptLabel: "live", promptPinned: false, prompt: { promptVersion: 1 } });
    const byHand = await create(service.agents, creation(ownerId, { prompt, ...manual }));
    await changePrompt(service, ownerId, "sales", "Two.");
    expect(await pointer(agent)).toMatchObject({ latestVersion: 1 });
    await label(2);
    await service.agents.followPrompt({ ownerId, promptName: "sales" });
    expect((await read(service.agents, agent)).prompt).toMatchObject({ promptVersion: 2, promptContent: "Two." });
    expect(await pointer(agent)).toMatchObject({ latestVersion: 2, publishedVersion: 2 });
    expect(await pointer(byHand)).toMatchObject({ latestVersion: 2, publishedVersion: undefined });
    const removal = { ownerId, promptName: "sales", label: "live", idempotency: undefined };
    expect(await failure(service.prompts.deletePromptLabel(removal))).toMatchObject({ kind: "conflict" });
  });

  test("reaches thousands of agents, the first in the call and the rest by a job, and stores its text once", async () => {
    const { agents, prompts, sql } = service;
    const ownerId = newOwner();
    await createPrompt(prompts, ownerId, "sales", "One.");
    const agent = await create(agents, creation(ownerId, { prompt: byName("sales") }));
    for (const table of ["agents", "agent_versions", "agent_publishes"])
      await sql`
        insert into ${sql(table)}
        select (jsonb_populate_record(given, jsonb_build_object('agent_id', 'agt_' || copy))).*
        from ${sql(table)} as given, generate_series(1, 1100) as copy where given.agent_id = ${agent.agentId}`;
    await changePrompt(service, ownerId, "sales", "Two.");
    const following = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from agents where owner_id = ${ownerId} and published_version = 2`;
      return row?.count ?? 0;
    };
    expect(await following()).toBeGreaterThanOrEqual(500);
    await eventually(async () => expect(await following()).toBe(1101));
    const texts = await sql`select content from version_texts where owner_id = ${ownerId} order by content`;
    expect(texts.map(({ content }) => content)).toEqual(["One.", "Two."]);
  });
});

describe("a change of a tool", () => {
  test("gives each agent that uses it a new version with the changed tool; earlier versions keep the tool as it was", async () => {
    const ownerId = newOwner();
    const tool = await createTool(service.agents, ownerId, httpTool("look_up"));
    const customTools = [{ toolId: tool.toolId }];
    const auto = await create(service.agents, creation(ownerId, { customTools }));
    const byHand = await create(service.agents, creation(ownerId, { customTools, ...manual }));
    const other = await create(service.agents, creation(ownerId));
    await service.agents.updateTool(toolChange(ownerId, tool, httpTool("find"), ["name"]));
    expect(await pointer(auto)).toMatchObject({ latestVersion: 2, publishedVersion: 2 });
    expect(await pointer(byHand)).toMatchObject({ latestVersion: 2, publishedVersion: undefined });
    expect(await pointer(other)).toMatchObject({ latestVersion: 1 });
    const names = await Promise.all([1, 2].map((version) => runtime(auto, version)));
    expect(names.map(({ customTools: [used] }) => used?.name)).toEqual(["look_up", "find"]);
    await service.agents.updateTool(toolChange(ownerId, tool, httpTool("find"), ["name"]));
    expect(await pointer(auto)).toMatchObject({ latestVersion: 2 });
  });

  test("may not be its deletion while only a published version has it", async () => {
    const ownerId = newOwner();
    const { toolId } = await createTool(service.agents, ownerId, httpTool("look_up"));
    const agent = await create(service.agents, creation(ownerId, { customTools: [{ toolId }] }));
    await change(service.agents, agent, { ...manual, customTools: { values: [] } });
    const gone = { ownerId, toolId, idempotency: undefined };
    expect(await failure(service.agents.deleteTool(gone))).toMatchObject({ kind: "conflict" });
    await change(service.agents, agent, { publishing: AUTO });
    const { keysRevision } = await pointer(agent);
    expect((await service.agents.deleteTool(gone)).name).toBe("look_up");
    // So that a conversation with an earlier version no longer has it.
    expect(await runtime(agent, 1)).toMatchObject({ customTools: [], keysRevision: keysRevision + 1 });
  });
});

test("deleting an agent deletes its versions, its publish log, its keys and the texts that no other agent has", async () => {
  const ownerId = newOwner();
  await createPrompt(service.prompts, ownerId, "sales", "Shared.");
  const llm = customLlm(A, "sk-first-0000000");
  const agent = await create(service.agents, creation(ownerId, { llm, prompt: inline("Own.") }));
  await change(service.agents, agent, { prompt: byName("sales") });
  const other = await create(service.agents, creation(ownerId, { prompt: byName("sales") }));
  await service.agents.deleteAgent(deletion(agent));
  for (const table of ["agent_versions", "agent_publishes", "agent_keys"]) {
    const left = await service.sql`select from ${service.sql(table)} where agent_id = ${agent.agentId}`;
    expect([table, left.length]).toEqual([table, 0]);
  }
  const texts = await service.sql`select content from version_texts where owner_id = ${ownerId}`;
  expect(texts.map(({ content }) => content)).toEqual(["Shared."]);
  expect((await read(service.agents, other)).prompt?.promptContent).toBe("Shared.");
});
