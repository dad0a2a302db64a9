import { afterAll, beforeAll, expect, test } from "bun:test";
import { roleUrls } from "@parley/shared/db/provision";
import { TEST_SECRET } from "@parley/shared/testing/database";
import { eventually } from "@parley/shared/testing/eventually";
import { type Api, answerOf } from "../src/testing/api.ts";
import { type PgBouncer, startPgBouncer } from "../src/testing/pgbouncer.ts";
import { echoOf, type ScriptedModel, startScriptedModel } from "../src/testing/scripted-model.ts";
import { createAgent } from "../src/testing/test-agent.ts";
import { createKey } from "../src/testing/test-owner.ts";
import { startTestStack, type TestStack } from "../src/testing/test-stack.ts";

// Every process connects through PgBouncer in transaction mode (docs/scaling.md).

let bouncer: PgBouncer;
let stack: TestStack;
let model: ScriptedModel;
let api: Api;
beforeAll(async () => {
  model = await startScriptedModel();
  const env: Record<string, string> = { PARLEY_DATABASE_PREPARE: "0" };
  stack = await startTestStack({
    env,
    through: async (url) => {
      bouncer = await startPgBouncer(url);
      env.PARLEY_DATABASE_DIRECT_URL = roleUrls(url, TEST_SECRET).account;
      return bouncer.url;
    },
  });
  api = stack.api(stack.owners[0].apiKey);
});
afterAll(async () => {
  await stack.stop();
  await bouncer.stop();
  await model.stop();
});

test("agents, prompts, chats and lists work, many at once", async () => {
  const agentIds = await Promise.all(
    Array.from({ length: 10 }, (_, n) => createAgent(api, model, { agent_name: `Desk ${n}` })),
  );
  const turns = agentIds.flatMap((agent_id) =>
    ["Hi there", "And again"].map(async (message) => answerOf(await api.chat({ agent_id, message }))),
  );
  for (const { status, body } of await Promise.all(turns)) {
    expect(status).toBe(200);
    expect([echoOf("Hi there"), echoOf("And again")]).toContain(body);
  }
  expect((await api.get("/conversations?page_size=50")).body).toMatchObject({ pagination: { total: 20 } });
  expect((await api.get("/conversations?search=again")).body).toMatchObject({ pagination: { total: 10 } });
  expect((await api.get("/agents")).body).toMatchObject({ total: 10 });
});

test("a key that is switched off stops working at once: its change comes over the direct connection", async () => {
  const { apiKey, keyId } = await createKey(stack.accounts, stack.owners[0].ownerId);
  expect((await stack.api(apiKey).get("/agents")).status).toBe(200);
  await stack.accounts.deactivateKey({ ownerId: stack.owners[0].ownerId, keyId });
  await eventually(async () => expect((await stack.api(apiKey).get("/agents")).status).toBe(401));
});

test("background work is done, by polling: a prompt is let go of after its agent", async () => {
  const prompt = { prompt_name: "pooled", prompt_content: "Be brief." };
  expect((await api.post("/prompts", prompt)).status).toBe(200);
  const agentId = await createAgent(api, model, { prompt_content: undefined, prompt: { prompt_name: "pooled" } });
  expect((await api.send("DELETE", "/prompts/pooled")).status).toBeGreaterThanOrEqual(400);
  expect((await api.send("DELETE", `/agents/${agentId}`)).status).toBe(200);
  await eventually(async () => expect((await api.send("DELETE", "/prompts/pooled")).status).toBe(200));
});
