import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  change,
  create,
  creation,
  customLlm,
  failure,
  newOwner,
  present,
  startTestAgents,
  type TestAgents,
  update,
} from "./kit.ts";

let service: TestAgents;

beforeAll(async () => {
  service = await startTestAgents();
});

afterAll(() => service.stop());

const A = "https://a.example/v1";
const B = "https://b.example/v1";
const KEY = "sk-primary-0123456789";
const MASK = "********6789";

test("no column of any table holds a key in the clear", async () => {
  const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
  const llm = customLlm(A, KEY, [customLlm(B, "sk-fallback-abcdef")]);
  const agent = await create(service.agents, creation(newOwner(), { llm, idempotency }));
  await change(service.agents, agent, {
    llm: customLlm(A, "sk-second-zzzzzzz"),
    idempotency: { ...idempotency, key: "twice" },
  });
  const tables = await service.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = current_schema()`;
  expect(tables.map(({ name }) => name)).toContain("agents");
  for (const { name } of tables) {
    const rows = await service.sql`select row_to_json(t)::text as row from ${service.sql(name)} t`;
    const text = rows.map(({ row }) => row).join("\n");
    for (const secret of [KEY, "sk-fallback-abcdef", "sk-second-zzzzzzz"]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString("hex"));
    }
  }
});

test("owners see masks, fallbacks' alike; the conversation service gets the keys", async () => {
  const llm = customLlm(A, KEY, [customLlm(B, "elevenchars"), customLlm(B, "twelve_chars")]);
  const agent = await create(service.agents, creation(newOwner(), { llm }));
  expect(keysOf(agent.llm)).toEqual([MASK, "********", "********hars"]);
  const listed = await service.agents.listAgents({ ownerId: agent.ownerId, ...LIST });
  expect(keysOf(listed.agents[0]?.llm)).toEqual([MASK, "********", "********hars"]);
  expect(present((await runtime(agent)).llm)).toEqual(llm);
});

test("a mask that is sent back keeps the key, whatever else changes", async () => {
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  const changed = await change(service.agents, agent, { llm: { ...customLlm(A, MASK), modelName: "another" } });
  expect(changed.llm).toMatchObject({ modelName: "another", params: { apiKey: MASK, baseUrl: A } });
  expect((await runtime(agent)).llm).toMatchObject({ modelName: "another", params: { apiKey: KEY } });
});

test("a mask does not carry a key to another address", async () => {
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  expect(await failure(service.agents.updateAgent(update(agent, { llm: customLlm(B, MASK) })))).toEqual({
    kind: "invalid",
    detail: "llm.params.api_key must be sent again in full because base_url changes",
    paths: ["llm.params.api_key"],
  });
  const moved = customLlm(A, MASK, [customLlm(B, MASK)]);
  expect(await failure(service.agents.updateAgent(update(agent, { llm: moved })))).toMatchObject({
    kind: "invalid",
    paths: ["llm.fallbacks.0.params.api_key"],
  });
  expect((await runtime(agent)).llm).toEqual(customLlm(A, KEY));
});

test("a mask that stands for nothing is refused, on a new agent too", async () => {
  const refusal = {
    kind: "invalid",
    detail: "llm.params.api_key is a mask that matches no stored key, send the key itself",
    paths: ["llm.params.api_key"],
  };
  const llm = customLlm(A, MASK);
  expect(await failure(service.agents.createAgent(creation(newOwner(), { llm })))).toEqual(refusal);
  const agent = await create(service.agents, creation(newOwner(), { llm: customLlm(A, "sk-another-0000000") }));
  expect(await failure(service.agents.updateAgent(update(agent, { llm })))).toEqual(refusal);
});

test("one owner's mask does not reach another owner's key", async () => {
  await create(service.agents, creation(newOwner(), { llm: customLlm(A, KEY) }));
  const other = await create(service.agents, creation(newOwner()));
  const request = update(other, { llm: customLlm(A, MASK) });
  expect(await failure(service.agents.updateAgent(request))).toMatchObject({ kind: "invalid" });
});

test("keys that look alike behind their masks each stay in their place", async () => {
  const llm = customLlm(A, "short1", [customLlm(A, "short2"), customLlm(A, "short3")]);
  const agent = await create(service.agents, creation(newOwner(), { llm }));
  const changed = await change(service.agents, agent, { llm: present(agent.llm) });
  expect(changed.llm).toEqual(present(agent.llm));
  expect((await runtime(agent)).llm).toEqual(llm);
});

test("a mask goes along when its configuration changes places", async () => {
  const agent = await create(
    service.agents,
    creation(newOwner(), { llm: customLlm(A, KEY, [customLlm(B, "sk-fallback-abcdef")]) }),
  );
  const { llm } = agent;
  const [fallback] = present(llm).fallbacks;
  await change(service.agents, agent, {
    llm: { ...present(fallback), fallbacks: [{ ...present(llm), fallbacks: [] }] },
  });
  expect((await runtime(agent)).llm).toEqual(customLlm(B, "sk-fallback-abcdef", [customLlm(A, KEY)]));
});

const LIST = { page: undefined, search: "", agentType: 0, agentCategory: "" } as const;

function keysOf(llm: LlmConfig | undefined): (string | undefined)[] {
  return [present(llm), ...present(llm).fallbacks].map(({ params }) => params?.apiKey);
}

async function runtime({ ownerId, agentId }: { ownerId: string; agentId: string }) {
  const { results } = await service.agents.batchGetAgentRuntimes({
    keys: [{ ownerId, agentId }],
    withAnalysisPrompt: false,
  });
  return present(results[0]?.runtime);
}
