import { afterAll, beforeAll, expect, test } from "bun:test";
import { silentLogger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { TEST_SECRET } from "@parley/shared/testing/database";
import { readAgentConfig } from "../src/config.ts";
import { openLlm, type StoredLlm } from "../src/llm-secrets.ts";
import { resealAgents } from "../src/reseal.ts";
import { create, creation, customLlm, newOwner, startTestAgents, type TestAgents } from "./kit.ts";

const NEXT = Buffer.alloc(32, 9).toString("base64");

let service: TestAgents;
beforeAll(async () => {
  service = await startTestAgents();
});
afterAll(() => service.stop());

test("after a reseal with the next key first, the next key alone opens every agent's keys", async () => {
  const llm = customLlm("https://a.example/v1", "sk-primary", [customLlm("https://b.example/v1", "sk-fallback")]);
  const agent = await create(service.agents, creation(newOwner(), { llm }));
  await create(service.agents, creation(newOwner(), { llm: undefined }));
  const stored = async () => {
    const [row] = await service.sql<{ llm: StoredLlm }[]>`select llm from agents where agent_id = ${agent.agentId}`;
    if (!row) throw new Error("the agent is gone");
    return row.llm;
  };
  const keysWith = async (keys: string) => {
    const { params, fallbacks } = openLlm(await stored(), createSealer(keys), agent.ownerId);
    return [params?.apiKey, fallbacks[0]?.params?.apiKey];
  };
  const reseal = (keys: string) =>
    resealAgents(readAgentConfig({ ...service.env(), PARLEY_ENCRYPTION_KEY: keys }), silentLogger);

  await reseal(`${NEXT},${TEST_SECRET}`);
  expect(await keysWith(NEXT)).toEqual(["sk-primary", "sk-fallback"]);
  const once = await stored();
  await reseal(NEXT);
  expect(await stored()).toEqual(once);
});
