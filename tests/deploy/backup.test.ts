import { afterAll, expect, test } from "bun:test";
import { copyFile, mkdtemp, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMigrateConfig } from "@parley/deploy/src/migrate/config.ts";
import { migrateAll } from "@parley/deploy/src/migrate/migrate-all.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { ensureDatabase } from "@parley/dev/storage/postgres.ts";
import { roleUrls, SCHEMAS, type Schema } from "@parley/shared/db/provision";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { $ } from "bun";
import postgres from "postgres";
import { Webhook } from "standardwebhooks";
import type { Api } from "../kit/api.ts";
import { startOwnPostgres } from "../kit/deploy/own-postgres.ts";
import { postgresClient } from "../kit/deploy/postgres-client.ts";
import { startLoad, storedOf, wholeOf } from "../kit/load.ts";
import { echoOf, startScriptedModel } from "../kit/scripted-model.ts";
import { BESIDES_CHATS, startTestStack, type TestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

// docs/backup.md: with the scripts that it names, from one Postgres to an empty one.

const DEPLOY = join(import.meta.dir, "../../deploy");
const QUIET_WITHIN_MS = 60_000;
/** Keeps an attempt in progress from the beginning of a backup to its end, and lets the lease on it end soon. */
const PATIENT = { PARLEY_WEBHOOK_TIMEOUT_MS: "60000", PARLEY_WEBHOOK_LEASE_MS: "1000" };

let stop = async () => {};
/** The administrator's address of the database that is in use. */
let databaseUrl: string;
let empty: Awaited<ReturnType<typeof startOwnPostgres>>;

const folder = await mkdtemp(join(tmpdir(), "parley-backup-"));
const file = join(folder, "parley.dump");
const [client, model] = await Promise.all([postgresClient(), startScriptedModel()]);
let stack: TestStack = await start((url) => url);
afterAll(async () => {
  await stop();
  await model.stop();
  await empty?.stop();
  await rm(folder, { recursive: true });
});

/** @param through the database to use, as in TestStackSettings */
async function start(through: (url: string) => string): Promise<TestStack> {
  const remember = async (url: string) => {
    databaseUrl = through(url);
    return databaseUrl;
  };
  const started = await startTestStack({ env: PATIENT, without: BESIDES_CHATS, through: remember });
  stop = async () => {
    stop = async () => {};
    await started.stop();
  };
  return started;
}

/** Runs one of the two scripts, with a command that runs Postgres' programs. */
async function run(script: "backup" | "restore", url: string, path = file): Promise<{ status: number; said: string }> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const there = [
    `PATH=${client}:${process.env.PATH}`,
    `PGHOST=${hostname}`,
    `PGPORT=${port}`,
    `PGPASSWORD=${password}`,
  ];
  const { exitCode, stderr, stdout } = await $`${join(DEPLOY, `${script}.sh`)} ${path} env ${there}`
    .env({ PATH: process.env.PATH, PGUSER: username, PGDATABASE: pathname.slice(1) })
    .quiet()
    .nothrow();
  return { status: exitCode, said: `${stderr}${stdout}` };
}

/** Tables that change without a request, or that belong to a process instead of an owner. */
const NOT_OF_OWNERS = ["jobs", "migrations"];

/** A digest of every row of an owner, by table. */
async function rowsOf(url: string, ownerId: string): Promise<Record<string, string>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname = any(${[...SCHEMAS]}) and tablename <> all(${NOT_OF_OWNERS}) order by schemaname, tablename`;
  const digests = tables.map(async ({ schema, name }) => {
    const [row] = await sql<[{ count: number; digest: string }]>`
      select count(*)::integer as count, md5(string_agg(t::text, ';' order by t::text)) as digest
      from ${sql(schema)}.${sql(name)} as t where owner_id = ${ownerId}`;
    return [`${schema}.${name}`, `${row.count} ${row.digest}`] as const;
  });
  const rows = Object.fromEntries(await Promise.all(digests));
  await sql.end();
  return rows;
}

/** What an owner reads with one key and one session. */
async function readAll(api: Api, manage: Api): Promise<unknown[]> {
  const lists = [
    ...["/agents", "/prompts?latest_only=false", "/conversations", "/conversations?search=order", "/chat/sessions"].map(
      (path) => api.get(path),
    ),
    ...["/settings", "/keys", "/mobile-numbers", "/destinations"].map((path) => manage.get(path)),
  ];
  return (await Promise.all(lists)).map(({ status, body }) => ({ status, body }));
}

interface Receiver {
  port: number;
  /** Requests that arrived. Those to the slow path are answered only when the receiver stops. */
  received: { path: string; headers: Headers; payload: string }[];
  stop(): Promise<void>;
}

/** A customer's endpoint. @param slow leaves requests to that path unanswered */
function startReceiver(port: number, slow: string): Receiver {
  const received: Receiver["received"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const payload = String((await request.formData()).get("payload"));
      received.push({ path: pathname, headers: request.headers, payload });
      return pathname === slow ? new Promise<Response>(() => {}) : new Response();
    },
  });
  return { port: server.port ?? 0, received, stop: () => server.stop(true) };
}

test("a restore after a total loss has everything stored before the backup, and the stack continues from it", async () => {
  const [owner, busy] = stack.owners;
  const api = stack.api(owner.apiKey);
  const token = await createSession(stack, owner.ownerId);
  const manage = stack.manage(token);
  // It is down for a while, in which no other process may take its port.
  const [port = 0] = await freePorts(1);
  let receiver = startReceiver(port, "/slow");
  const destination = async (path: string) => {
    const url = `http://127.0.0.1:${port}${path}`;
    return (await manage.post("/destinations", { name: path, url, request_type: "POST" })).body;
  };
  await destination("/quick");
  const { secret } = await destination("/slow");
  await manage.post("/mobile-numbers", { mobile_number: "+4930123456", telephony_provider: "twilio" });
  await stack.accounts.updateSettings({ ownerId: owner.ownerId, retentionDays: 90 });
  for (const prompt_content of ["You are Ada.", "You are Ada, of {{company}}."])
    await api.post("/prompts", { prompt_name: "ada", prompt_content });
  const agentId = await createAgent(api, model, { prompt_content: undefined, prompt: { prompt_name: "ada" } });
  const ender = await createAgent(api, model, { tools: { end_call: true } });
  const keyed = { "idempotency-key": "once" };
  const say = async (session_id?: string, headers = {}) =>
    (await api.post("/chat", { agent_id: agentId, session_id, message: "My order?", streaming: false }, headers)).body;
  const open = await say(undefined, keyed);
  void model.next((exchange) => {
    exchange.toolCall("end_call", { message: "Bye." });
    exchange.finish();
  });
  await api.post("/chat", { agent_id: ender, message: "Goodbye", streaming: false });
  const deliveries = async () => {
    const { body } = await manage.get("/deliveries");
    return body.deliveries.map(({ status }: { status: string }) => status).toSorted();
  };
  await eventually(async () => expect(await deliveries()).toEqual(["delivered", "pending"]));
  await eventually(() => expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(["/quick", "/slow"]));
  const sent = receiver.received.find(({ path }) => path === "/slow");

  await storeCalls(databaseUrl);
  const load = startLoad(stack.api(busy.apiKey), await createAgent(stack.api(busy.apiKey), model));
  await eventually(() => expect(load.answered()).toBeGreaterThan(10));
  const answered = load.turns.filter(({ reply }) => reply !== null);
  // Background work may change an owner's rows at any time. If they are equal before and after the backup, the backup has them.
  const { rows, read } = await eventually(async () => {
    await rm(file, { force: true });
    const before = { rows: await rowsOf(databaseUrl, owner.ownerId), read: await readAll(api, manage) };
    const during = load.answered();
    expect(await run("backup", databaseUrl)).toEqual({ status: 0, said: "" });
    expect(load.answered()).toBeGreaterThan(during);
    expect(await rowsOf(databaseUrl, owner.ownerId)).toEqual(before.rows);
    return before;
  }, QUIET_WITHIN_MS);
  await load.stop();
  expect((await stat(file)).mode & 0o077).toBe(0);

  await receiver.stop();
  const { pathname } = new URL(databaseUrl);
  await stop();
  empty = await startOwnPostgres(pathname.slice(1));
  const roles = roleUrls(empty.url, TEST_SECRET);
  await migrate(empty.url, roles);
  expect(await run("restore", empty.url)).toEqual({ status: 0, said: stopped({ batches: 1, calls: 2 }) });
  expect(await callsOf(empty.url)).toEqual({ batches: ["ENDED", "PAUSED"], unwanted: ["PLACING", "QUEUED"] });
  expect(await rowsOf(empty.url, owner.ownerId)).toEqual(rows);
  await expectIsolated(roles);

  receiver = startReceiver(port, "/none");
  stack = await start(() => empty.url);
  const restored = stack.api(owner.apiKey);
  const restoredManage = stack.manage(token);
  expect(await readAll(restored, restoredManage)).toEqual(read);
  for (const turn of answered) expect(await storedOf(stack.api(busy.apiKey), turn)).toEqual(wholeOf(turn));
  const { body: all } = await stack.api(busy.apiKey).get("/conversations?page_size=1");
  expect(all.pagination.total).toBe(await countConversations(roles.conversation, busy.ownerId));

  // Deliveries that were in progress at the backup end, signed with the secret that only the restored key opens.
  await eventually(async () =>
    expect((await restoredManage.get("/deliveries?status=pending")).body.deliveries).toEqual([]),
  );
  const again = receiver.received.find(({ path }) => path === "/slow");
  expect(again?.headers.get("webhook-id")).toBe(sent?.headers.get("webhook-id") as string);
  new Webhook(secret).verify(again?.payload ?? "", Object.fromEntries(again?.headers ?? []));
  await receiver.stop();

  const chat = { agent_id: agentId, message: "My order?", streaming: false };
  expect((await restored.post("/chat", chat, keyed)).body).toEqual(open);
  const next = await restored.post("/chat", { ...chat, session_id: open.session_id });
  expect(next.body).toMatchObject({ response: echoOf("My order?"), session_id: open.session_id });
  expect((await restored.post("/chat", chat)).status).toBe(200);
  expect((await restored.get("/conversations")).body.pagination.total).toBe(3);
  const prompt = { prompt_name: "ada", prompt_content: "You are Ada again." };
  expect((await restored.post("/prompts", prompt)).body).toMatchObject({ prompt_version: 3 });
  expect((await restored.send("DELETE", "/prompts/ada")).status).toBe(409);
});

test("a backup is not restored over running processes or existing owners, nor from a partial file, and is not overwritten", async () => {
  const { ownerId } = stack.owners[0];
  const refused = (why: string) => ({ status: 3, said: expect.stringContaining(why) });
  expect(await run("restore", databaseUrl)).toEqual(refused("Parley's processes are connected to this database: stop"));
  await stop();
  const before = await rowsOf(databaseUrl, ownerId);
  expect(await run("restore", databaseUrl)).toEqual(refused("this database has owners: restore into an empty one"));
  const half = join(folder, "half.dump");
  await copyFile(file, half);
  await truncate(half, Math.floor((await stat(file)).size / 2));
  expect(await run("restore", databaseUrl, half)).toEqual({
    status: 1,
    said: expect.stringContaining("end of file"),
  });
  expect(await rowsOf(databaseUrl, ownerId)).toEqual(before);
  expect(await run("backup", databaseUrl)).toEqual({
    status: 1,
    said: `${file} exists already: name another file\n`,
  });
});

test("a backup of a release that had fewer services leaves the others what migrate has prepared", async () => {
  const url = Object.assign(new URL(empty.url), { pathname: "/earlier" }).toString();
  await ensureDatabase(empty.url, "earlier");
  const roles = roleUrls(url, TEST_SECRET);
  await migrate(url, roles);
  const earlier = join(folder, "earlier.dump");
  const schemas = ["account", "agent", "prompt", "conversation", "webhook"].map((schema) => `--schema=${schema}`);
  await $`${join(client, "pg_dump")} --dbname=${url} --format=custom --file=${earlier} ${schemas}`;
  expect(await run("restore", url, earlier)).toEqual({ status: 0, said: stopped({ batches: 0, calls: 0 }) });
  await expectIsolated(roles);
});

/** What a restore says about calls. */
function stopped({ batches, calls }: { batches: number; calls: number }): string {
  return (
    `Paused ${batches} batches and cancelled ${calls} queued calls. Their numbers may have been called after the backup, and numbers ` +
    "that were put on a do-not-call list after it are missing there: tell the owners before they resume a batch.\n"
  );
}

const CALLER = "own_caller";

/** Stores batches and calls of an owner as the voice service does while it makes calls. */
async function storeCalls(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  for (const status of ["RUNNING", "ENDED"])
    await sql`
      insert into voice.call_batches (owner_id, batch_id, status, settings, carrier_id, provider, total, created_at)
      values (${CALLER}, ${status}, ${status}, '{}', 'car_1', 'TWILIO', 1, now())`;
  for (const status of ["QUEUED", "PLACING", "RINGING"])
    await sql`
      insert into voice.outbound_calls (owner_id, call_id, conversation_id, agent_id, carrier_id, provider, to_mobile_number,
        from_mobile_number, dynamic_variables, metadata, is_test_call, max_duration_seconds, ring_seconds, status, due_at, created_at)
      values (${CALLER}, ${status}, gen_random_uuid(), 'agt_1', 'car_1', 'TWILIO', '+14155550123', '+14155550124', '{}', '{}', false,
        600, 30, ${status}, now() + interval '1 hour', now())`;
  await sql.end();
}

/** That owner's batches by state, and the states of calls that are not to be made. */
async function callsOf(url: string): Promise<{ batches: string[]; unwanted: string[] }> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const batches = await sql`select status from voice.call_batches where owner_id = ${CALLER} order by status`;
  const unwanted = await sql`
    select status from voice.outbound_calls where owner_id = ${CALLER} and is_unwanted and due_at <= now() order by status`;
  await sql.end();
  return { batches: batches.map(({ status }) => status), unwanted: unwanted.map(({ status }) => status) };
}

async function migrate(admin: string, urls: Record<Schema, string>): Promise<void> {
  const variables = Object.entries(urls).map(([schema, url]) => [`${schema.toUpperCase()}_DATABASE_URL`, url]);
  const env = { DATABASE_ADMIN_URL: admin, ...Object.fromEntries(variables) };
  await migrateAll(readMigrateConfig(env), silentLogger);
}

/** Every role owns its own objects, and reaches nothing else. */
async function expectIsolated(urls: Record<Schema, string>): Promise<void> {
  for (const role of SCHEMAS) {
    const sql = postgres(urls[role], { max: 1, onnotice: () => {} });
    const readable = await sql<{ schema: string }[]>`
      select distinct schemaname as schema from pg_tables
      where schemaname = any(${[...SCHEMAS]}) and has_schema_privilege(schemaname, 'usage')
        and has_table_privilege(format('%I.%I', schemaname, tablename), 'select, insert, update, delete')`;
    expect(readable.map(({ schema }) => schema)).toEqual([role]);
    await sql`alter table migrations alter column name set not null`;
    await sql.end();
  }
}

async function countConversations(url: string, ownerId: string): Promise<number> {
  const sql = postgres(url, { max: 1 });
  const [row] = await sql<[{ count: number }]>`
    select count(*)::integer as count from conversations where owner_id = ${ownerId}`;
  await sql.end();
  return row.count;
}
