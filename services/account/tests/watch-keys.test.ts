import { afterAll, expect, test } from "bun:test";
import { KeyStatus, Tier } from "@parley/proto/parley/account/v1/account.ts";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import postgres from "postgres";
import { type AccountClient, digestOf, newKey, newOwner, startAccountProcess, startTestAccount } from "./kit.ts";

const account = await startTestAccount();
const { ownerId } = await newOwner(account.client);
const admin = postgres(account.database.adminUrl, { max: 1 });
afterAll(async () => {
  await admin.end();
  await account.stop();
});

/** A live stream of changed keys: its empty first message has arrived. */
async function watch(client: AccountClient) {
  const leaving = new AbortController();
  const stream = client.watchKeys({}, { origin: { requestId: "test", signal: leaving.signal } });
  const messages = stream[Symbol.asyncIterator]();
  const next = async () => {
    for (;;) {
      const { value } = await messages.next();
      if (!value?.heartbeat) return value?.keyId;
    }
  };
  expect(await next()).toBe("");
  return { next, leave: () => leaving.abort() };
}

const listeners = () =>
  admin<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'parley-account-listen'`;

test("every change of a key's grant is reported, in order", async () => {
  const { client } = account;
  const { next, leave } = await watch(client);
  const { keyId } = await newKey(client, ownerId);
  const change = { ownerId, keyId };
  await client.deactivateKey(change);
  expect(await next()).toBe(keyId);
  await client.activateKey(change);
  expect(await next()).toBe(keyId);
  await client.deleteKey(change);
  expect(await next()).toBe(keyId);
  leave();
});

test("a change or deletion of an owner is reported as a change of each of its keys", async () => {
  const { client } = account;
  const owner = await newOwner(client);
  const keys = [await newKey(client, owner.ownerId), await newKey(client, owner.ownerId)];
  const all = keys.map((key) => key.keyId).sort();
  const { next, leave } = await watch(client);
  await client.updateOwner({ ownerId: owner.ownerId, tier: Tier.TIER_PRO });
  expect([await next(), await next()].sort()).toEqual(all);
  await client.deleteOwner({ ownerId: owner.ownerId });
  expect([await next(), await next()].sort()).toEqual(all);
  leave();
});

test("heartbeats arrive while nothing changes", async () => {
  const leaving = new AbortController();
  const stream = account.client.watchKeys({}, { origin: { requestId: "test", signal: leaving.signal } });
  const messages = stream[Symbol.asyncIterator]();
  const heard = [];
  for (let message = 0; message < 3; message++) heard.push((await messages.next()).value);
  expect(heard).toEqual([
    { keyId: "", heartbeat: false },
    { keyId: "", heartbeat: true },
    { keyId: "", heartbeat: true },
  ]);
  leaving.abort();
});

test("a reported change can be read", async () => {
  const { client } = account;
  const { keyId, apiKey } = await newKey(client, ownerId);
  const { next, leave } = await watch(client);
  const changing = client.deactivateKey({ ownerId, keyId });
  expect(await next()).toBe(keyId);
  const { grant } = await client.authenticateKey({ digest: digestOf(apiKey) });
  expect(grant?.status).toBe(KeyStatus.KEY_STATUS_INACTIVE);
  await changing;
  leave();
});

test("a change by another process is reported", async () => {
  const other = await startAccountProcess(account.database, account.clock);
  const { next, leave } = await watch(account.client);
  const { keyId } = await newKey(other.client, ownerId);
  await other.client.deactivateKey({ ownerId, keyId });
  expect(await next()).toBe(keyId);
  leave();
  await other.stop();
});

test("one listening connection serves any number of watchers", async () => {
  const watchers = await Promise.all(Array.from({ length: 10 }, () => watch(account.client)));
  expect(await listeners()).toHaveLength(1);
  const { keyId } = await newKey(account.client, ownerId);
  await account.client.deleteKey({ ownerId, keyId });
  expect(await Promise.all(watchers.map(({ next }) => next()))).toEqual(new Array(10).fill(keyId));
  for (const { leave } of watchers) leave();
});

test("when the listening connection is lost, streams end, and new ones are live once it is replaced", async () => {
  const { next } = await watch(account.client);
  const [lost] = await listeners();
  await admin`select pg_terminate_backend(${lost?.pid ?? 0})`;
  expect(await failureOf(next())).toMatchObject({
    kind: "unavailable",
    detail: "Key changes cannot be followed right now. Try again.",
  });

  const again = await watch(account.client);
  const { keyId } = await newKey(account.client, ownerId);
  await account.client.deactivateKey({ ownerId, keyId });
  expect(await again.next()).toBe(keyId);
  again.leave();
});

test("a stopping service ends its streams, so that they do not delay it", async () => {
  const other = await startAccountProcess(account.database, account.clock);
  const { next } = await watch(other.client);
  await eventually(async () => expect(await listeners()).toHaveLength(2));
  const ended = failureOf(next());
  await other.stop();
  expect(await ended).toMatchObject({ kind: "unavailable", detail: "The account service is stopping. Try again." });
  await eventually(async () => expect(await listeners()).toHaveLength(1));
});
