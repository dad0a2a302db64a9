import { afterAll, describe, expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { CreateKeyRequest } from "@parley/proto/parley/account/v1/account_service.ts";
import { failureOf } from "@parley/testkit/failures";
import postgres from "postgres";
import { digestOf, NO_KEY, NO_OWNER, newKey, newOwner, startTestAccount } from "./kit.ts";

const { KEY_STATUS_ACTIVE, KEY_STATUS_INACTIVE, KEY_STATUS_EXPIRED } = KeyStatus;
const HOUR_MS = 3_600_000;

const account = await startTestAccount();
const { ownerId } = await newOwner(account.client);
afterAll(() => account.stop());

const inAnHour = () => new Date(account.clock.now().getTime() + HOUR_MS);

async function statusOf(apiKey: string): Promise<KeyStatus | undefined> {
  const { grant } = await account.client.authenticateKey({ digest: digestOf(apiKey) });
  return grant?.status;
}

describe("CreateKey", () => {
  test("a key is vk_ and 43 base62 characters and, by default, has all scopes and never expires", async () => {
    const { key, apiKey } = await account.client.createKey(CreateKeyRequest.fromPartial({ ownerId }));
    expect(apiKey).toMatch(/^vk_[0-9A-Za-z]{43}$/);
    expect(key).toEqual({
      keyId: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      ownerId,
      name: "",
      prefix: apiKey.slice(0, 11),
      scopes: ["*"],
      status: KEY_STATUS_ACTIVE,
      expiresAt: undefined,
      createdAt: account.clock.now(),
      lastUsedAt: undefined,
    });
  });

  test("a key has the requested name, scopes (each once) and expiry", async () => {
    const expiresAt = inAnHour();
    const { key } = await account.client.createKey({
      ownerId,
      name: "CI",
      scopes: ["chat", "agents:read", "chat"],
      expiresAt,
    });
    expect(key).toMatchObject({ name: "CI", scopes: ["chat", "agents:read"], expiresAt });
  });

  test.each([
    [{ name: "x".repeat(101) }, "name"],
    [{ scopes: ["chat", "everything"] }, "scopes"],
    [{ expiresAt: new Date("2025-12-31T23:59:59Z") }, "expires_at"],
    [{ expiresAt: new Date("9999-06-01T00:00:00Z") }, "expires_at"],
  ])("%j is refused, naming %s", async (request, path) => {
    expect(
      await failureOf(account.client.createKey(CreateKeyRequest.fromPartial({ ...request, ownerId }))),
    ).toMatchObject({ kind: "invalid", violations: [{ path, message: expect.stringContaining(path) }] });
  });

  test("an owner has at most 200 keys, however many requests race, until one is deleted", async () => {
    const owner = await newOwner(account.client);
    const { keyId } = await newKey(account.client, owner.ownerId);
    const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
    await sql`
      insert into api_keys (owner_id, key_id, prefix, digest, scopes, active, created_at)
      select owner_id, 'key_' || lpad(number::text, 26, '0'), prefix, number::text::bytea, scopes, active, created_at
      from api_keys, generate_series(2, 199) as number where key_id = ${keyId}`;
    await sql.end();
    const asked = await Promise.all(
      [1, 2, 3].map(() => newKey(account.client, owner.ownerId).catch(({ detail }: { detail: string }) => detail)),
    );
    const refused = "There are 200 API keys already: delete one first";
    expect(asked.filter((each) => each === refused)).toHaveLength(2);
    await account.client.deleteKey({ ownerId: owner.ownerId, keyId });
    expect(await newKey(account.client, owner.ownerId)).toMatchObject({ keyId: expect.any(String) });
  });

  test("an unknown owner gets no key", async () => {
    expect(await failureOf(newKey(account.client, NO_OWNER))).toMatchObject({ detail: "Owner not found" });
  });

  test("no column of any table has the key itself; one has its digest", async () => {
    const { apiKey } = await newKey(account.client, ownerId, { name: "at rest" });
    const admin = postgres(account.database.adminUrl, { max: 1 });
    const tables = await admin<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'account'`;
    const rows = await Promise.all(tables.map(({ name }) => admin`select t::text from account.${admin(name)} t`));
    await admin.end();
    const stored = JSON.stringify(rows);
    expect(tables.length).toBeGreaterThan(3);
    expect(stored).toContain(digestOf(apiKey).toString("hex"));
    expect(stored).not.toContain(apiKey.slice(11));
    expect(stored).not.toContain(Buffer.from(apiKey).toString("hex"));
  });
});

describe("AuthenticateKey", () => {
  test("a key grants access to its owner's data, with the limit of the owner's tier", async () => {
    const expiresAt = inAnHour();
    const { keyId, apiKey } = await newKey(account.client, ownerId, { scopes: ["chat"], expiresAt });
    expect(await account.client.authenticateKey({ digest: digestOf(apiKey) })).toEqual({
      grant: { keyId, ownerId, scopes: ["chat"], status: KEY_STATUS_ACTIVE, expiresAt, rateLimitPerMinute: 100 },
    });
  });

  test("a changed limit applies to existing keys", async () => {
    const owner = await newOwner(account.client);
    const { apiKey } = await newKey(account.client, owner.ownerId);
    await account.client.updateOwner({ ownerId: owner.ownerId, tier: 3, rateLimitPerMinute: 7 });
    const { grant } = await account.client.authenticateKey({ digest: digestOf(apiKey) });
    expect(grant?.rateLimitPerMinute).toBe(7);
  });

  test("a key that does not exist has no grant", async () => {
    expect(await account.client.authenticateKey({ digest: digestOf("vk_guess") })).toEqual({ grant: undefined });
  });

  test("a key expires to the millisecond", async () => {
    const { apiKey } = await newKey(account.client, ownerId, { expiresAt: inAnHour() });
    account.clock.advance(HOUR_MS - 1);
    expect(await statusOf(apiKey)).toBe(KEY_STATUS_ACTIVE);
    account.clock.advance(1);
    expect(await statusOf(apiKey)).toBe(KEY_STATUS_EXPIRED);
  });

  test("the keys of a deleted owner have no grant", async () => {
    const owner = await newOwner(account.client);
    const { apiKey } = await newKey(account.client, owner.ownerId);
    await account.client.deleteOwner({ ownerId: owner.ownerId });
    expect(await statusOf(apiKey)).toBeUndefined();
  });

  test("a malformed digest is refused", async () => {
    expect(await failureOf(account.client.authenticateKey({ digest: Buffer.alloc(31) }))).toMatchObject({
      kind: "invalid",
    });
  });
});

describe("ListKeys", () => {
  test("an owner sees its own keys, newest first, and nobody else's", async () => {
    const owner = await newOwner(account.client);
    const first = await newKey(account.client, owner.ownerId, { name: "first" });
    const second = await newKey(account.client, owner.ownerId, { name: "second" });
    const { keys } = await account.client.listKeys({ ownerId: owner.ownerId });
    expect(keys.map(({ keyId, name }) => [keyId, name])).toEqual([
      [second.keyId, "second"],
      [first.keyId, "first"],
    ]);
  });

  test("an unknown owner is not found", async () => {
    expect(await failureOf(account.client.listKeys({ ownerId: NO_OWNER }))).toMatchObject({
      detail: "Owner not found",
    });
  });
});

describe("ActivateKey, DeactivateKey, DeleteKey", () => {
  test("a key can be deactivated and activated any number of times", async () => {
    const { keyId, apiKey } = await newKey(account.client, ownerId);
    for (let round = 0; round < 2; round++) {
      for (let time = 0; time < 2; time++) {
        const { key } = await account.client.deactivateKey({ ownerId, keyId });
        expect([key?.keyId, key?.status]).toEqual([keyId, KEY_STATUS_INACTIVE]);
      }
      expect(await statusOf(apiKey)).toBe(KEY_STATUS_INACTIVE);
      for (let time = 0; time < 2; time++) {
        const { key } = await account.client.activateKey({ ownerId, keyId });
        expect([key?.keyId, key?.status]).toEqual([keyId, KEY_STATUS_ACTIVE]);
      }
      expect(await statusOf(apiKey)).toBe(KEY_STATUS_ACTIVE);
    }
  });

  test("an expired key cannot be activated, but can be deactivated and deleted", async () => {
    const { keyId, apiKey } = await newKey(account.client, ownerId, { expiresAt: inAnHour() });
    account.clock.advance(HOUR_MS);
    expect(await failureOf(account.client.activateKey({ ownerId, keyId }))).toMatchObject({
      kind: "condition",
      detail: "API key has expired. Create a new one.",
    });
    await account.client.deactivateKey({ ownerId, keyId });
    expect(await statusOf(apiKey)).toBe(KEY_STATUS_INACTIVE);
    await account.client.deleteKey({ ownerId, keyId });
    expect(await statusOf(apiKey)).toBeUndefined();
  });

  test("a deleted key is gone", async () => {
    const { keyId, apiKey } = await newKey(account.client, ownerId);
    await account.client.deleteKey({ ownerId, keyId });
    expect(await statusOf(apiKey)).toBeUndefined();
    expect((await account.client.listKeys({ ownerId })).keys.map((key) => key.keyId)).not.toContain(keyId);
    expect(await failureOf(account.client.deleteKey({ ownerId, keyId }))).toMatchObject({
      detail: "API key not found",
    });
  });

  test("another owner's key is not found, and stays as it is", async () => {
    const { keyId, apiKey } = await newKey(account.client, ownerId);
    const other = await newOwner(account.client);
    const foreign = { ownerId: other.ownerId, keyId };
    for (const change of ["activateKey", "deactivateKey", "deleteKey"] as const) {
      expect(await failureOf(account.client[change](foreign))).toMatchObject({ detail: "API key not found" });
    }
    expect(await statusOf(apiKey)).toBe(KEY_STATUS_ACTIVE);
  });

  test.each([NO_KEY, "", "key_\u0000"])("there is no key %j", async (keyId) => {
    expect(await failureOf(account.client.deactivateKey({ ownerId, keyId }))).toMatchObject({ kind: "not_found" });
  });
});

test("a key's last use is noted every five minutes at most, and not that of a key which does not work", async () => {
  const minute = 60_000;
  const { clock } = account;
  const { key, apiKey } = await account.client.createKey(CreateKeyRequest.fromPartial({ ownerId }));
  const change = { ownerId, keyId: key?.keyId ?? "" };
  const lastUse = async () => {
    const { keys } = await account.client.listKeys({ ownerId });
    return keys.find(({ keyId }) => keyId === change.keyId)?.lastUsedAt;
  };
  const useAfter = async (minutes: number) => {
    clock.advance(minutes * minute);
    await statusOf(apiKey);
    return clock.now();
  };
  expect(await lastUse()).toBeUndefined();
  const first = await useAfter(0);
  await useAfter(4);
  expect(await lastUse()).toEqual(first);
  const second = await useAfter(1);
  expect(await lastUse()).toEqual(second);
  await account.client.deactivateKey(change);
  await useAfter(60);
  expect(await lastUse()).toEqual(second);
});
