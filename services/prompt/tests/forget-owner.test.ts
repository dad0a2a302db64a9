import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { countOwnedRows, newOwner } from "@parley/testkit/owners";
import { byName, creation, newAgent, startTestService, update, withContent } from "./harness.ts";

const service = await startTestService();
const sql = openDatabase({ url: service.database.urls.prompt, name: "test" });
afterAll(async () => {
  await sql.end();
  await service.stop();
});

test("a deleted owner's prompts are deleted, also those in use; another owner's stay", async () => {
  const { client } = service;
  const [gone, stays] = [newOwner(), newOwner()];
  for (const ownerId of [gone, stays]) {
    const idempotency = { key: "once", fingerprint: Buffer.alloc(32) };
    await client.createPrompt(creation(ownerId, { idempotency }));
    for (let version = 2; version <= 150; version++) await client.updatePrompt(update(ownerId, "greeting", "Hello."));
    await client.createPrompt(creation(ownerId, { promptName: "unused" }));
    await client.acquirePrompts({ ...newAgent(ownerId), revision: 1, uses: [byName("greeting"), withContent("Hi.")] });
  }
  const before = {
    ...{ prompts: 3, prompt_versions: 152, prompt_references: 2, reference_revisions: 1, idempotency_keys: 1 },
    ...{ idempotency_bytes: 1, stored_bytes: 1 },
  };
  expect(await countOwnedRows(sql, gone)).toEqual(before);
  for (const _ of ["once", "once more"]) await client.forgetOwner({ ownerId: gone });
  await eventually(async () => expect(await countOwnedRows(sql, gone)).toEqual({}));
  expect(await countOwnedRows(sql, stays)).toEqual(before);
});
