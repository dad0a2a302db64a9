import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  Access,
  type CreateAgentRequest,
  type UpdateAgentRequest,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { newId } from "@parley/shared/ids";
import { failure } from "@parley/shared/testing/failures";
import { newOwner } from "@parley/shared/testing/owners";
import { WRONG_PAGES } from "@parley/shared/testing/pages";
import {
  byName,
  change,
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

let service: TestAgents;

const params = (temperature?: number) => ({ temperature, baseUrl: undefined, apiKey: undefined, apiType: undefined });
const llm = (providerName: string, modelName: string) => ({ providerName, modelName, params: params(), fallbacks: [] });
const stt = (providerName: string, modelName: string) => ({
  providerName,
  modelName,
  language: undefined,
  endpoint: undefined,
});
const tts = (providerName: string, voiceId: string, modelName?: string) => ({
  providerName,
  voiceId,
  modelName,
  language: undefined,
  speed: undefined,
  endpoint: undefined,
});

beforeAll(async () => {
  service = await startTestAgents();
});

afterAll(() => service.stop());

const EVERYTHING = {
  agentName: "Réception 😀",
  agentDescription: "Answers.",
  agentType: AgentType.AGENT_TYPE_OUTBOUND,
  agentCategory: "Healthcare",
  agentTips: ["Be brief", ""],
  agentMobileNumbers: ["+14155550123"],
  stt: { providerName: "DEEPGRAM", modelName: "nova-3", language: "en-US", endpoint: undefined },
  llm: { providerName: "OPENAI", modelName: "gpt-4o-mini", params: params(0.7), fallbacks: [] },
  tts: {
    providerName: "ELEVENLABS",
    modelName: "eleven_v3",
    language: "en",
    voiceId: "v1",
    speed: 1.25,
    endpoint: undefined,
  },
  sts: {
    providerName: "ANY",
    modelName: "thing",
    language: "en",
    voiceId: "v2",
    params: { nested: { camelCase: [1, null, true] }, snake_case: "kept" },
  },
  firstMessagePrompt: "Hello {{Customer Name}}!",
  tools: { end_call: { message: "Bye" }, user_idle: false },
  widgetConfig: { title: "Chat", extra: { any: ["thing"] } },
  mediaFiles: [{ fileType: "image/png", mediaUrl: "https://example.com/a.png" }],
};

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
    await service.prompts.updatePrompt({
      ownerId: owner,
      promptName: "sales",
      promptContent: "Two.",
      idempotency: undefined,
    });
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
      expect((await list(ownerId)).total).toBe(0);
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
    const runtimes = await service.agents.batchGetAgentRuntimes({ keys, withAnalysisPrompt: false });
    expect(runtimes.results.map(({ access, runtime }) => [access, runtime?.prompt?.promptContent])).toEqual(
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
      (await list(owner, { page: { number, size: 2 } })).agents.map((agent) => [
        agent.agentName,
        agent.prompt?.promptContent,
      ]);
    expect(await names(1)).toEqual([
      ["three", "three"],
      ["two", "two"],
    ]);
    expect(await names(2)).toEqual([["one", "one"]]);
    expect(await names(3)).toEqual([]);
    expect((await list(owner, { page: { number: 3, size: 2 } })).total).toBe(3);
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
    const found = async (given: Parameters<typeof list>[1]) =>
      (await list(owner, given)).agents.map((agent) => agent.agentName).sort();
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
    expect(await list(newOwner())).toEqual({ agents: [], total: 0 });
  });
});

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
    expect(cleared).toEqual({ ...fresh, agentId, createdAt, updatedAt, agentName, agentType });
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
  expect((await list(agent.ownerId)).total).toBe(0);
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

function list(ownerId: string, given: Partial<Parameters<TestAgents["agents"]["listAgents"]>[0]> = {}) {
  return service.agents.listAgents({
    ownerId,
    page: { number: 1, size: 100 },
    search: "",
    agentType: AgentType.AGENT_TYPE_UNSPECIFIED,
    agentCategory: "",
    ...given,
  });
}

test.each(WRONG_PAGES)(
  "a list of agents refuses page $page.number of size $page.size and names the field",
  async ({ page, field }) => {
    expect(await failure(list(newOwner(), { page }))).toMatchObject({ kind: "invalid", paths: [field] });
  },
);

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
