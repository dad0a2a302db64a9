import { afterAll, expect, test } from "bun:test";
import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { modelKeysOf, readAgentConfig } from "../src/config.ts";
import { useOf } from "../src/model-keys/model-keys.ts";
import { resealAgents } from "../src/model-keys/reseal.ts";
import { openKey } from "../src/model-keys/sealed-key.ts";
import { addressIn } from "../src/store/agent-keys.ts";
import { create, creation, customLlm, startTestAgents } from "./kit.ts";

const NEXT = Buffer.alloc(32, 9).toString("base64");

const service = await startTestAgents();
afterAll(() => service.stop());

const newAgent = () => {
  const llm = customLlm("https://a.example/v1", "sk-primary", [customLlm("https://b.example/v1", "sk-fallback")]);
  return create(service.agents, creation(newOwner(), { llm }));
};

interface StoredKey {
  use: string;
  sealed: string;
}

function stored({ ownerId, agentId }: Agent): Promise<StoredKey[]> {
  return service.sql<StoredKey[]>`
    select key_use as use, sealed_key as sealed from agent_keys
    where owner_id = ${ownerId} and agent_id = ${agentId} order by key_use`;
}

async function keysWith(keys: string, agent: Agent, of = agent): Promise<(string | null)[]> {
  const modelKeys = modelKeysOf({ PARLEY_ENCRYPTION_KEY: keys });
  return (await stored(agent)).map(({ use, sealed }) => openKey(sealed, useOf(of, addressIn(use)), modelKeys));
}

const reseal = (env: Record<string, string> = {}) =>
  resealAgents(readAgentConfig({ ...service.env(), ...env }), silentLogger);

test("after a reseal with the next key first, the next key alone opens the keys of agents' own speech servers", async () => {
  const endpoint = { baseUrl: "https://a.example/v1", apiKey: "sk-speech" };
  const stt = { providerName: "CUSTOM_STT", modelName: "any", language: undefined, endpoint };
  const agent = await create(service.agents, creation(newOwner(), { stt }));
  await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` });
  expect(await keysWith(NEXT, agent)).toEqual(["sk-speech"]);
  await reseal({ PARLEY_ENCRYPTION_KEY: `${TEST_SECRET},${NEXT}` });
});

test("after a reseal with the next key first, the next key alone opens every agent's keys", async () => {
  const agent = await newAgent();
  await create(service.agents, creation(newOwner(), { llm: undefined }));
  await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` });
  expect(await keysWith(NEXT, agent)).toEqual(["sk-primary", "sk-fallback"]);
  expect(await keysWith(TEST_SECRET, agent)).toEqual([null, null]);
  const once = await stored(agent);
  await reseal({ PARLEY_ENCRYPTION_KEY: NEXT });
  expect(await stored(agent)).toEqual(once);
  await reseal({ PARLEY_ENCRYPTION_KEY: `${TEST_SECRET},${NEXT}` });
});

test("a reseal that meets an unreadable key seals all others and then fails", async () => {
  const [lost, agent] = [await newAgent(), await newAgent()];
  await service.sql`
    update agent_keys set key_use = replace(key_use, 'a.example', 'evil.example') where agent_id = ${lost.agentId}`;
  expect(await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` }).catch(String)).toBe(
    "Error: 1 keys of agents cannot be read; the others are sealed. See the log.",
  );
  expect(await keysWith(NEXT, agent, { ...agent, agentId: "agt_another" })).toEqual([null, null]);
  expect(await keysWith(NEXT, agent)).toEqual(["sk-primary", "sk-fallback"]);
});
