import { afterAll, expect, test } from "bun:test";
import { createObjects, keyFor } from "../kit/owners/owned-objects.ts";
import { openOwnerRows } from "../kit/rows/owner-rows.ts";
import { type ScriptedModel, startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";

/** The name of both owners' agents, prompts and so on, and the beginning of their idempotency keys. */
const SAME = "the-same-name";

const stack: RunningStack = await sharedStack();
const model: ScriptedModel = await startScriptedModel();
const rows = await openOwnerRows(stack.databaseUrls);
const one = await createObjects(stack, model, stack.owners[0], SAME);
const other = await createObjects(stack, model, stack.owners[1], SAME);
afterAll(async () => {
  await rows.close();
  await stack.stop();
  await model.stop();
});

test("owners with the same names and idempotency keys each have their own objects", async () => {
  const shared = Object.entries(one.names).filter(([field, name]) => other.names[field] === name);
  expect(shared.map(([field]) => field)).toEqual(["prompt_name", "label", "secret_name", "provider"]);
});

test("an idempotency key of two owners repeats to each of them its own answer", async () => {
  const body = { prompt_name: SAME, prompt_content: SAME };
  const key = { "idempotency-key": keyFor(SAME, "/prompts") };
  const [ours, theirs] = [await one.api.post("/prompts", body, key), await other.api.post("/prompts", body, key)];
  for (const { status, headers } of [ours, theirs])
    expect([status, headers.get("idempotent-replayed")]).toEqual([200, "true"]);
  expect(ours.body.prompt_version).toBe(1);
  const again = { agent_id: one.names.agent_id, metadata: { note: SAME } };
  const foreign = await other.api.post("/web-calls", again, { "idempotency-key": keyFor(SAME, "/web-calls") });
  // The key belongs to the other owner's own request, for which the body is another one.
  expect([foreign.status, foreign.body.errors?.[0]?.path]).toEqual([422, "Idempotency-Key"]);
});

test("whatever one owner deletes, the other's objects of the same names stay", async () => {
  const before = await rows.of(stack.owners[0].ownerId);
  const { agent_id, prompt_name, tool_id, secret_name, provider, voice_id, destination_id, key_id } = other.names;
  const deletions = [
    other.api.send("DELETE", `/agents/${agent_id}`),
    other.api.send("DELETE", `/prompts/${prompt_name}`),
    other.manage.send("DELETE", `/cloned-voices/${provider}/${voice_id}`),
    other.manage.send("DELETE", `/destinations/${destination_id}`),
    other.manage.send("DELETE", `/keys/${key_id}`),
    other.api.send("DELETE", `/tools/${tool_id}`).then(async (deleted) => {
      expect((await other.manage.send("DELETE", `/secrets/${secret_name}`)).status).toBe(200);
      return deleted;
    }),
  ];
  expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual(deletions.map(() => 200));
  await stack.accounts.deleteOwner({ ownerId: stack.owners[1].ownerId });
  expect(await rows.of(stack.owners[0].ownerId)).toEqual(before);
});
