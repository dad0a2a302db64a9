import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { ANALYSIS, creation, deletion, newAgent, startTestService, update, withContent } from "./harness.ts";

const BYTES_MAX = 10_000;
/** Two of them fit, together with small versions. */
const LONG = "x".repeat(4_000);
const FULL = {
  kind: "conflict",
  detail:
    "Prompts and their versions would have more than 10,000 bytes together: delete prompts that you no longer need",
};

const service = await startTestService({ PARLEY_PROMPTS_OWNER_BYTES: String(BYTES_MAX) });
const client = service.client;
const sql = openDatabase({ url: service.database.urls.prompt, name: "test" });
afterAll(async () => {
  await sql.end();
  await service.stop();
});

async function storedBytes(ownerId: string): Promise<number | undefined> {
  const [row] = await sql<{ bytes: number }[]>`select bytes from stored_bytes where owner_id = ${ownerId}`;
  return row?.bytes;
}

test("a full owner's new prompts and versions are refused, and a deletion makes room; another owner is not full", async () => {
  const [owner, other] = [newOwner(), newOwner()];
  await client.createPrompt(creation(owner, { promptContent: LONG }));
  await client.updatePrompt(update(owner, "greeting", LONG));
  expect(await failure(client.updatePrompt(update(owner, "greeting", LONG)))).toMatchObject(FULL);
  expect(
    await failure(client.createPrompt(creation(owner, { promptName: "next", promptContent: LONG }))),
  ).toMatchObject(FULL);
  await client.createPrompt(creation(other, { promptContent: LONG }));
  const { prompt } = (await client.updatePrompt(update(owner, "greeting", "short"))) ?? {};
  expect(prompt?.promptVersion).toBe(3);
  expect(await storedBytes(owner)).toBe(3 * (500 + "greeting".length) + 8_000 + "short".length);
  await client.deletePrompt(deletion(owner, "greeting"));
  expect(await storedBytes(owner)).toBe(0);
  await client.createPrompt(creation(owner, { promptName: "next", promptContent: LONG }));
});

test("a refusal under an idempotency key is repeated, and another key is tried anew", async () => {
  const owner = newOwner();
  const keyed = (key: string) => {
    const idempotency = { key, fingerprint: Buffer.alloc(32) };
    return client.updatePrompt({ ...update(owner, "greeting", LONG), idempotency });
  };
  await client.createPrompt(creation(owner, { promptContent: LONG }));
  await client.createPrompt(creation(owner, { promptName: "other", promptContent: LONG }));
  expect(await failure(keyed("1"))).toMatchObject(FULL);
  await client.deletePrompt(deletion(owner, "other"));
  expect(await failure(keyed("1"))).toMatchObject(FULL);
  expect((await keyed("2")).prompt?.promptVersion).toBe(2);
});

test("an agent's own prompts count until the agent is deleted", async () => {
  const owner = newOwner();
  const agent = newAgent(owner);
  const uses = [withContent(LONG), withContent(LONG, ANALYSIS)];
  await client.acquirePrompts({ ...agent, uses });
  expect(await failure(client.acquirePrompts({ ...newAgent(owner), uses }))).toMatchObject(FULL);
  await client.setPromptReferences({ ...agent, references: [], agentGone: true, revision: undefined });
  expect(await storedBytes(owner)).toBe(0);
  await client.acquirePrompts({ ...newAgent(owner), uses });
});

test("writers of two processes at the same time do not exceed the limit together", async () => {
  const owner = newOwner();
  const replica = await service.startReplica();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 12 }, (_, at) =>
      (at % 2 === 0 ? client : replica).createPrompt(creation(owner, { promptName: `${at % 3}`, promptContent: LONG })),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("writes and deletions of an agent's own prompts from several sides never block each other for good", async () => {
  const replica = await service.startReplica();
  const uses = [withContent("Be brief."), withContent("Sum up.", ANALYSIS)];
  let agent = newAgent(newOwner());
  for (let round = 1; round <= 40; round++) {
    if (round % 2 === 0) agent = newAgent(newOwner());
    const owner = agent.ownerId;
    const analysis = `agent-${agent.agentId}-analysis`;
    const outcomes = await Promise.allSettled([
      client.acquirePrompts({ ...agent, uses, revision: 2 * round }),
      replica.updatePrompt(update(owner, analysis, "Sum up well.")),
      replica.updatePrompt(update(owner, `agent-${agent.agentId}`, "Be kind.")),
      replica.deletePrompt(deletion(owner, analysis)),
      replica.setPromptReferences({ ...agent, references: [], agentGone: true, revision: 2 * round + 1 }),
    ]);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.kind] : []));
    expect(refusals.filter((kind) => !["not_found", "conflict", "unavailable"].includes(kind))).toEqual([]);
  }
});
