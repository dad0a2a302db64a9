import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { roleUrls } from "@parley/shared/db/provision";
import { enqueueJob } from "@parley/shared/jobs/store";
import { startWorker } from "@parley/shared/jobs/worker";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { answerOf } from "../kit/api.ts";
import { type PgBouncer, startPgBouncer } from "../kit/deploy/pgbouncer.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { STAND_INS, startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createKey } from "../kit/test-owner.ts";

const NEVER_MS = 3_600_000;

// Every process connects through PgBouncer in transaction mode (docs/scaling.md).

let bouncer: PgBouncer;
let directUrl: string;
const model = await startScriptedModel();
const env: Record<string, string> = { PARLEY_DATABASE_PREPARE: "0" };
const stack = await startTestStack({
  env,
  without: STAND_INS,
  through: async (url) => {
    bouncer = await startPgBouncer(url);
    // All processes of a stack share one variable. A role that listens need not own the tables behind the notifications.
    directUrl = roleUrls(url, TEST_SECRET).account;
    env.PARLEY_DATABASE_DIRECT_URL = directUrl;
    return bouncer.url;
  },
});
const api = stack.api(stack.owners[0].apiKey);
afterAll(async () => {
  await stack.stop();
  await bouncer?.stop();
  await model.stop();
});

test("agents, prompts, chats and lists work concurrently", async () => {
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

test("a deactivated key stops working at once, because the change arrives over the direct connection", async () => {
  const { apiKey, keyId } = await createKey(stack.accounts, stack.owners[0].ownerId);
  expect((await stack.api(apiKey).get("/agents")).status).toBe(200);
  await stack.accounts.deactivateKey({ ownerId: stack.owners[0].ownerId, keyId });
  await eventually(async () => expect((await stack.api(apiKey).get("/agents")).status).toBe(401));
});

test("every service with jobs listens for them past the pooler", async () => {
  const sql = openDatabase({ url: directUrl, max: 1, name: "test" });
  await eventually(async () => {
    const rows = await sql<{ applicationName: string; query: string }[]>`
      select application_name, query from pg_stat_activity
      where datname = current_database() and application_name like 'parley-%-direct' order by application_name`;
    expect(rows.map(({ applicationName, query }) => [applicationName, query])).toEqual([
      ["parley-account-direct", 'listen "account.jobs"'],
      ["parley-agent-direct", 'listen "agent.jobs"'],
      ["parley-conversation-direct", 'listen "conversation.jobs"'],
      ["parley-knowledge-direct", 'listen "knowledge.jobs"'],
      ["parley-messaging-direct", 'listen "messaging.jobs"'],
      ["parley-prompt-direct", 'listen "prompt.jobs"'],
      // The voice service listens for several things, in any order.
      ["parley-voice-direct", expect.stringMatching(/^listen "voice\.(jobs|hang_ups|call_commands)"$/)],
      ["parley-webhook-dispatcher-direct", 'listen "webhook.jobs"'],
    ]);
  });
  await sql.end();
});

test("a worker behind the pooler that listens past it is notified of jobs without polling", async () => {
  const pooled = openDatabase({ url: roleUrls(bouncer.url, TEST_SECRET).agent, prepare: false, name: "pooled" });
  const direct = openDatabase({ url: directUrl, max: 1, name: "past-the-pooler" });
  const ran: string[] = [];
  const run = async ({ jobId }: { jobId: string }) => void ran.push(jobId);
  const queue = { run, concurrency: 1, leaseMs: 60_000, attemptsMax: 1 };
  const worker = startWorker(pooled, { probe: queue }, silentLogger, { direct, pollMs: NEVER_MS });
  await eventually(async () => {
    const [row] = await direct`
      select 1 from pg_stat_activity where application_name = 'past-the-pooler' and query = 'listen "agent.jobs"'`;
    expect(row).toBeDefined();
  });
  const job = { ownerId: "own_1", queue: "probe", payload: {}, dueAt: new Date() };
  for (const jobId of ["first", "second"]) {
    await enqueueJob(pooled, { ...job, jobId });
    await eventually(() => expect(ran).toContain(jobId));
  }
  await worker.stop();
  await Promise.all([pooled.end(), direct.end()]);
});

test("background jobs run: a prompt is released after its agent is deleted", async () => {
  const prompt = { prompt_name: "pooled", prompt_content: "Be brief." };
  expect((await api.post("/prompts", prompt)).status).toBe(200);
  const agentId = await createAgent(api, model, { prompt_content: undefined, prompt: { prompt_name: "pooled" } });
  expect((await api.send("DELETE", "/prompts/pooled")).status).toBeGreaterThanOrEqual(400);
  expect((await api.send("DELETE", `/agents/${agentId}`)).status).toBe(200);
  await eventually(async () => expect((await api.send("DELETE", "/prompts/pooled")).status).toBe(200));
});
