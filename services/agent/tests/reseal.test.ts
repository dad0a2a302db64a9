import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Agent, SttConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { silentLogger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { TEST_SECRET } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { modelKeysOf, readAgentConfig } from "../src/config.ts";
import { openLlm } from "../src/model-keys/llm-secrets.ts";
import { resealAgents } from "../src/model-keys/reseal.ts";
import { openSpeech } from "../src/model-keys/speech-secrets.ts";
import type { StoredLlm, StoredSpeech } from "../src/store/stored-keys.ts";
import { create, creation, customLlm, startTestAgents, type TestAgents } from "./kit.ts";

const NEXT = Buffer.alloc(32, 9).toString("base64");

let service: TestAgents;
beforeAll(async () => {
  service = await startTestAgents();
});
afterAll(() => service.stop());

const newAgent = () => {
  const llm = customLlm("https://a.example/v1", "sk-primary", [customLlm("https://b.example/v1", "sk-fallback")]);
  return create(service.agents, creation(newOwner(), { llm }));
};

async function stored({ ownerId, agentId }: Agent): Promise<StoredLlm> {
  const [row] = await service.sql<{ llm: StoredLlm }[]>`
    select llm from agents where owner_id = ${ownerId} and agent_id = ${agentId}`;
  if (!row) throw new Error("the agent is gone");
  return row.llm;
}

/** As a release before this one stored and read keys: bound to the owner alone. */
const before = createSealer(TEST_SECRET);

async function storeAsBefore(agent: Agent): Promise<void> {
  const llm = await stored(agent);
  llm.params.sealedApiKey = before.seal("sk-primary", agent.ownerId);
  for (const { params } of llm.fallbacks) params.sealedApiKey = before.seal("sk-fallback", agent.ownerId);
  await service.sql`update agents set llm = ${service.sql.json(llm as never)} where agent_id = ${agent.agentId}`;
}

async function readAsBefore(agent: Agent): Promise<string[]> {
  const { params, fallbacks } = await stored(agent);
  return [params, ...fallbacks.map((fallback) => fallback.params)].map(({ sealedApiKey }) =>
    before.open(sealedApiKey ?? "", agent.ownerId),
  );
}

async function keysWith(keys: string, agent: Agent, use = agent): Promise<(string | undefined)[] | string> {
  const modelKeys = modelKeysOf({ PARLEY_ENCRYPTION_KEY: keys, PARLEY_SEAL_UNBOUND: "0" });
  const opened = openLlm(await stored(agent), modelKeys, use, {});
  if ("unreadableKey" in opened) return opened.unreadableKey;
  return [opened.llm, ...opened.llm.fallbacks].map(({ params }) => params?.apiKey);
}

const reseal = (env: Record<string, string> = {}) =>
  resealAgents(readAgentConfig({ ...service.env(), ...env }), silentLogger);

test("after a reseal with the next key first, the next key alone opens the keys of agents' own speech servers", async () => {
  const endpoint = { baseUrl: "https://a.example/v1", apiKey: "sk-speech" };
  const stt = { providerName: "CUSTOM_STT", modelName: "any", language: undefined, endpoint };
  const agent = await create(service.agents, creation(newOwner(), { stt }));
  await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` });
  const [row] = await service.sql<{ stt: StoredSpeech<SttConfig> }[]>`
    select stt from agents where agent_id = ${agent.agentId}`;
  const keys = modelKeysOf({ PARLEY_ENCRYPTION_KEY: NEXT, PARLEY_SEAL_UNBOUND: "0" });
  expect(row && openSpeech("stt", row.stt, keys, agent)).toEqual(stt);
  await reseal({ PARLEY_ENCRYPTION_KEY: `${TEST_SECRET},${NEXT}` });
});

test("after a reseal with the next key first, the next key alone opens every agent's keys", async () => {
  const agent = await newAgent();
  await create(service.agents, creation(newOwner(), { llm: undefined }));
  await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` });
  expect(await keysWith(NEXT, agent)).toEqual(["sk-primary", "sk-fallback"]);
  expect(await keysWith(TEST_SECRET, agent)).toBe("llm.params.api_key");
  const once = await stored(agent);
  await reseal({ PARLEY_ENCRYPTION_KEY: NEXT });
  expect(await stored(agent)).toEqual(once);
  await reseal({ PARLEY_ENCRYPTION_KEY: `${TEST_SECRET},${NEXT}` });
});

test("keys of the previous release work, a reseal binds them to their agent, and another reseal makes them readable for that release again", async () => {
  const agent = await newAgent();
  await storeAsBefore(agent);
  expect(await keysWith(TEST_SECRET, agent)).toEqual(["sk-primary", "sk-fallback"]);
  await reseal();
  expect(await keysWith(TEST_SECRET, agent)).toEqual(["sk-primary", "sk-fallback"]);
  expect(await keysWith(TEST_SECRET, agent, { ...agent, agentId: "agt_another" })).toBe("llm.params.api_key");
  const once = await stored(agent);
  await reseal();
  expect(await stored(agent)).toEqual(once);

  await reseal({ PARLEY_SEAL_UNBOUND: "1" });
  expect(await readAsBefore(agent)).toEqual(["sk-primary", "sk-fallback"]);
  await reseal();
});

test("while the previous release runs beside this one, it can read what this one seals", async () => {
  const beside = await startTestAgents({ PARLEY_SEAL_UNBOUND: "1" });
  const llm = customLlm("https://a.example/v1", "sk-primary");
  const { ownerId } = await create(beside.agents, creation(newOwner(), { llm }));
  const [row] = await beside.sql<{ sealed: string }[]>`select llm -> 'params' ->> 'sealedApiKey' as sealed from agents`;
  expect(before.open(row?.sealed ?? "", ownerId)).toBe("sk-primary");
  await beside.stop();
});

test("a reseal that meets an unreadable key seals all others and then fails", async () => {
  const [lost, agent] = [await newAgent(), await newAgent()];
  await storeAsBefore(agent);
  await service.sql`
    update agents set llm = jsonb_set(llm, '{params,baseUrl}', '"https://evil.example/v1"') where agent_id = ${lost.agentId}`;
  expect(await reseal().catch(String)).toBe(
    "Error: the keys of 1 agents cannot be read, the others are sealed: see the log",
  );
  expect(await keysWith(TEST_SECRET, agent, { ...agent, agentId: "agt_another" })).toBe("llm.params.api_key");
  expect(await keysWith(TEST_SECRET, agent)).toEqual(["sk-primary", "sk-fallback"]);
});
