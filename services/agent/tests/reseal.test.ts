import { afterAll, expect, test } from "bun:test";
import type { Agent, SttConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { modelKeysOf, readAgentConfig } from "../src/config.ts";
import { openLlm } from "../src/model-keys/llm-secrets.ts";
import { resealAgents } from "../src/model-keys/reseal.ts";
import { openSpeech } from "../src/model-keys/speech-secrets.ts";
import type { StoredLlm, StoredSpeech } from "../src/store/stored-keys.ts";
import { create, creation, customLlm, startTestAgents } from "./kit.ts";

const NEXT = Buffer.alloc(32, 9).toString("base64");

const service = await startTestAgents();
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

async function keysWith(keys: string, agent: Agent, use = agent): Promise<(string | undefined)[] | string> {
  const modelKeys = modelKeysOf({ PARLEY_ENCRYPTION_KEY: keys });
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
  const keys = modelKeysOf({ PARLEY_ENCRYPTION_KEY: NEXT });
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

test("a reseal that meets an unreadable key seals all others and then fails", async () => {
  const [lost, agent] = [await newAgent(), await newAgent()];
  await service.sql`
    update agents set llm = jsonb_set(llm, '{params,baseUrl}', '"https://evil.example/v1"') where agent_id = ${lost.agentId}`;
  expect(await reseal({ PARLEY_ENCRYPTION_KEY: `${NEXT},${TEST_SECRET}` }).catch(String)).toBe(
    "Error: the keys of 1 agents cannot be read; the others are sealed. See the log.",
  );
  expect(await keysWith(NEXT, agent, { ...agent, agentId: "agt_another" })).toBe("llm.params.api_key");
  expect(await keysWith(NEXT, agent)).toEqual(["sk-primary", "sk-fallback"]);
});
