import { afterAll, expect, test } from "bun:test";
import type { CallOptions } from "@parley/shared/rpc/client/sender";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { creation, deletion, startTestService, update } from "./harness.ts";

const service = await startTestService();
const client = service.client;
const replica = await service.startReplica();

afterAll(() => service.stop());

/** A request's idempotency key, and the fingerprint that the gateway computes of its route and body. */
function key(request: string) {
  return { key: "key-1", fingerprint: new Bun.CryptoHasher("sha256").update(request).digest() };
}

/** Whether the answer was marked as a replay, and the answer. */
async function seen<T>(call: (options: CallOptions) => Promise<T>): Promise<{ replayed: boolean; answer: T }> {
  let replayed = false;
  const answer = await call({
    onReplayed: () => {
      replayed = true;
    },
  });
  return { replayed, answer };
}

test("a repeated create makes one version, and the repeat is marked as a replay", async () => {
  const owner = newOwner();
  const request = creation(owner, { idempotency: key("create") });
  const first = await seen((options) => client.createPrompt(request, options));
  service.clock.advance(60_000);
  const again = await seen((options) => replica.createPrompt(request, options));
  expect(first.replayed).toBe(false);
  expect(again).toEqual({ replayed: true, answer: first.answer });
  const { versions } = await client.listPromptVersions({ ownerId: owner, promptName: "greeting" });
  expect(versions.length).toBe(1);
});

test("a repeated update makes one version, however many arrive at once", async () => {
  const owner = newOwner();
  await client.createPrompt(creation(owner));
  const request = { ...update(owner, "greeting", "Say hi."), idempotency: key("update") };
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      seen((options) => (at % 2 ? client : replica).updatePrompt(request, options)),
    ),
  );
  expect(new Set(all.map(({ answer }) => answer.prompt?.promptVersion))).toEqual(new Set([2]));
  expect(all.filter(({ replayed }) => !replayed).length).toBe(1);
  const { versions } = await client.listPromptVersions({ ownerId: owner, promptName: "greeting" });
  expect(versions.length).toBe(2);
});

test("a repeated restore makes one version, and a repeated label is not moved back", async () => {
  const owner = newOwner();
  await client.createPrompt(creation(owner));
  const name = { ownerId: owner, promptName: "greeting" };
  const restoring = { ...name, promptVersion: 1, idempotency: key("restore") };
  const labelling = { ...name, label: "live", promptVersion: 1, idempotency: { ...key("label"), key: "key-2" } };
  const twice = async <T>(ask: (options: CallOptions) => Promise<T>, between: () => Promise<unknown>) => {
    const first = await seen(ask);
    await between();
    expect(await seen(ask)).toEqual({ replayed: true, answer: first.answer });
  };
  await twice(
    (options) => client.restorePromptVersion(restoring, options),
    async () => {},
  );
  await twice(
    (options) => client.setPromptLabel(labelling, options),
    () => client.setPromptLabel({ ...labelling, promptVersion: 2, idempotency: undefined }),
  );
  const { versions } = await client.listPromptVersions(name);
  expect(versions.map(({ labels }) => labels)).toEqual([["live"], []]);
});

test("a repeated delete gets the first response and leaves a prompt created since untouched", async () => {
  const owner = newOwner();
  await client.createPrompt(creation(owner));
  const request = { ...deletion(owner, "greeting"), idempotency: key("delete") };
  const first = await seen((options) => client.deletePrompt(request, options));
  await client.createPrompt(creation(owner));
  const again = await seen((options) => client.deletePrompt(request, options));
  expect(again).toEqual({ replayed: true, answer: first.answer });
  expect((await client.getPrompt({ ownerId: owner, reference: { promptName: "greeting" } })).prompt).toBeDefined();
});

test("an invalid field is refused in the same way again, and its key is not free for another request", async () => {
  const owner = newOwner();
  const request = creation(owner, { promptName: " ", idempotency: key("create") });
  const first = await failure(client.createPrompt(request));
  const again = await seen((options) => failure(client.createPrompt(request, options)));
  expect(again).toEqual({ replayed: true, answer: first });
  const other = await seen((options) =>
    failure(client.createPrompt(creation(owner, { idempotency: key("another") }), options)),
  );
  expect(other).toMatchObject({ replayed: false, answer: { kind: "invalid", paths: ["Idempotency-Key"] } });
});
