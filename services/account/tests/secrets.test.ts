import { afterAll, expect, test } from "bun:test";
import { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { TEST_SECRET } from "@parley/testkit/database";
import { failure } from "@parley/testkit/failures";
import postgres from "postgres";
import { readAccountConfig } from "../src/config.ts";
import { resealSecrets } from "../src/secrets/reseal.ts";
import { newOwner, startTestAccount } from "./kit.ts";

/** The tools that use each secret. */
const users = new Map<string, string[]>();
/** The agents whose models or start webhook do. */
const usingAgents = new Map<string, string[]>();
/** The owners whose agents' keys were to be revealed again. */
const renewed: string[] = [];
let canRenew = true;
const agents = await serve(
  AgentServiceService,
  {
    listSecretUsers: async ({ ownerId, secretName }) => ({
      toolNames: users.get(`${ownerId} ${secretName}`) ?? [],
      agentIds: usingAgents.get(`${ownerId} ${secretName}`) ?? [],
    }),
    renewKeys: async ({ ownerId }) => {
      if (!canRenew) throw new ServiceError("unavailable", "The agent service is restarting. Try again.");
      renewed.push(ownerId);
      return {};
    },
  },
  { address: "127.0.0.1:0", log: silentLogger },
);
const service = await startTestAccount({ PARLEY_AGENT_ADDRESS: agents.address });
const { client, database } = service;
const sql = postgres(database.urls.account, { max: 1, onnotice: () => {} });
afterAll(async () => {
  await sql.end();
  await service.stop();
  await agents.stop();
});

const VALUE = "sk_live_0123456789";
const create = (ownerId: string, name: string, value = VALUE) => client.createSecret({ ownerId, name, value });
const reveal = async (ownerId: string, ...names: string[]) => (await client.revealSecrets({ ownerId, names })).secrets;

test("a secret is listed without its value, and revealed with it", async () => {
  const { ownerId } = await newOwner(client);
  const { secret } = await create(ownerId, "shop_key");
  expect(secret).toMatchObject({ name: "shop_key", version: 1 });
  await create(ownerId, "a.login");
  const { secrets } = await client.listSecrets({ ownerId });
  expect(secrets.map(({ name }) => name)).toEqual(["a.login", "shop_key"]);
  expect(JSON.stringify(secrets)).not.toContain(VALUE);
  expect(await reveal(ownerId, "shop_key", "unknown")).toEqual([{ name: "shop_key", value: VALUE }]);
  expect((await client.findSecrets({ ownerId, names: ["unknown", "shop_key"] })).names).toEqual(["shop_key"]);
});

test("a new value is the next version, and conversations that hold the former one are told", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  const { secret } = await client.setSecret({ ownerId, name: "shop_key", value: "another value" });
  expect(secret?.version).toBe(2);
  expect(renewed).toContain(ownerId);
  expect(await reveal(ownerId, "shop_key")).toEqual([{ name: "shop_key", value: "another value" }]);
});

/** The kind of a request's failure while the agent service cannot be told of anything. */
async function untold(request: () => Promise<unknown>) {
  canRenew = false;
  const { kind } = await failure(request());
  canRenew = true;
  return kind;
}

test("a new value that conversations could not be told of is refused, and a repeat tells them", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  const set = () => client.setSecret({ ownerId, name: "shop_key", value: "another value" });
  expect(await untold(set)).toBe("unavailable");
  expect(renewed).not.toContain(ownerId);
  await set();
  expect(renewed).toContain(ownerId);
});

test("a deletion that conversations could not be told of is refused, and a repeat tells them", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  const remove = () => client.deleteSecret({ ownerId, name: "shop_key" });
  expect(await untold(remove)).toBe("unavailable");
  expect(renewed).not.toContain(ownerId);
  expect(await failure(remove())).toMatchObject({ kind: "not_found", detail: "Secret not found" });
  expect(renewed).toContain(ownerId);
});

test("two owners have secrets of the same name, each its own", async () => {
  const [one, other] = [(await newOwner(client)).ownerId, (await newOwner(client)).ownerId];
  await create(one, "shop_key");
  await create(other, "shop_key", "the other value");
  expect((await reveal(one, "shop_key"))[0]?.value).toBe(VALUE);
  expect((await reveal(other, "shop_key"))[0]?.value).toBe("the other value");
  await client.deleteSecret({ ownerId: other, name: "shop_key" });
  expect(await reveal(one, "shop_key")).toHaveLength(1);
  const again = client.setSecret({ ownerId: other, name: "shop_key", value: "a third value" });
  expect(await failure(again)).toMatchObject({ kind: "not_found", detail: "Secret not found" });
});

test("a sealed value opens for no other owner and no other name", async () => {
  const [one, other] = [(await newOwner(client)).ownerId, (await newOwner(client)).ownerId];
  await create(one, "shop_key");
  await sql`
    insert into secrets select ${other}, name, sealed_value, version, created_by, created_at, updated_at
    from secrets where owner_id = ${one}`;
  await sql`
    insert into secrets select owner_id, 'renamed', sealed_value, version, created_by, created_at, updated_at
    from secrets where owner_id = ${one}`;
  expect(await reveal(other, "shop_key")).toEqual([]);
  expect((await reveal(one, "renamed", "shop_key")).map(({ name }) => name)).toEqual(["shop_key"]);
});

test.each([
  ["name", "", VALUE],
  ["name", ".hidden", VALUE],
  ["name", "a b", VALUE],
  ["name", "a".repeat(65), VALUE],
  ["value", "key", "seven77"],
  ["value", "key", "x".repeat(8_193)],
  ["value", "key", "ends in a line break\n"],
  ["value", "key", "has\0a NUL"],
])("a secret whose %s breaks a rule is refused, %#", async (path, name, value) => {
  const { ownerId } = await newOwner(client);
  expect(await failure(create(ownerId, name, value))).toMatchObject({ kind: "invalid", paths: [path] });
});

test("a name is taken once, and an owner has at most 200 secrets", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  expect(await failure(create(ownerId, "shop_key"))).toMatchObject({
    kind: "conflict",
    detail: "There is a secret with the name shop_key already",
  });
  await sql`
    insert into secrets
    select owner_id, 'key_' || number, sealed_value, version, created_by, created_at, updated_at
    from secrets, generate_series(1, 199) as number where owner_id = ${ownerId} and name = 'shop_key'`;
  expect(await failure(create(ownerId, "one_more"))).toMatchObject({ kind: "conflict" });
});

test("a secret that tools use cannot be deleted, and the refusal names the tools", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  users.set(`${ownerId} shop_key`, ["book", "look_up"]);
  expect(await failure(client.deleteSecret({ ownerId, name: "shop_key" }))).toMatchObject({
    kind: "conflict",
    detail:
      "Secret shop_key is used by the tools book, look_up: take it out of every tool, in published versions too, before deleting it",
  });
  users.clear();
  await client.deleteSecret({ ownerId, name: "shop_key" });
  expect(await failure(client.deleteSecret({ ownerId, name: "shop_key" }))).toMatchObject({ kind: "not_found" });
});

test("after a reseal the new key alone opens every secret", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "shop_key");
  const fresh = Buffer.alloc(32, 9).toString("base64");
  const of = (keys: string) =>
    readAccountConfig({
      DATABASE_URL: database.urls.account,
      PARLEY_ENCRYPTION_KEY: keys,
      ...Object.fromEntries(
        ["CONVERSATION", "VOICE", "MESSAGING", "AGENT", "PROMPT", "KNOWLEDGE", "WEBHOOK"].map((name) => [
          `PARLEY_${name}_ADDRESS`,
          "127.0.0.1:1",
        ]),
      ),
    });
  await sql`delete from secrets where owner_id <> ${ownerId}`;
  await resealSecrets(of(`${fresh},${TEST_SECRET}`), silentLogger);
  expect(await reveal(ownerId, "shop_key")).toEqual([]);
  await resealSecrets(of(`${TEST_SECRET},${fresh}`), silentLogger);
  expect((await reveal(ownerId, "shop_key"))[0]?.value).toBe(VALUE);
});

test("a secret of an agent's models or start webhook cannot be deleted, and the refusal names the agent", async () => {
  const { ownerId } = await newOwner(client);
  await create(ownerId, "crm_key");
  usingAgents.set(`${ownerId} crm_key`, ["agt_1"]);
  expect(await failure(client.deleteSecret({ ownerId, name: "crm_key" }))).toMatchObject({
    kind: "conflict",
    detail:
      "Secret crm_key is used by the agent agt_1: take it out of every model and start webhook, in published versions too, before deleting it",
  });
});
