import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import type { TestAgent } from "./kit.ts";
import { createAgent, failure, say, startTestChat, transcript, turn } from "./kit.ts";
import { insert, request, type Stored, stored } from "./lists-kit.ts";

const DAY_MS = 86_400_000;

const service = await startTestChat();
afterAll(() => service.stop());
// Sweeps run when the service starts, and not again while its clock stands still: they would end or delete what is made here.
await eventually(async () => {
  const due = await service.sql`select 1 from jobs where owner_id = '' and due_at <= ${service.clock.now()}`;
  expect(due).toHaveLength(0);
});

let revision = 0;
const keep = (ownerId: string, retentionDays: number | undefined) =>
  service.chat.setOwnerSettings({ ownerId, retentionDays, revision: ++revision });

async function total(ownerId: string, asked: object = {}): Promise<number> {
  return (await service.chat.listConversations({ ...request(ownerId, {}), ...asked })).total;
}

/** A chat that began this many milliseconds ago. */
async function chatFrom(agent: TestAgent, ageMs: number, given: Partial<Stored> = {}): Promise<string> {
  const createdAt = new Date(service.clock.now().getTime() - ageMs);
  const row = stored({ ...agent, status: "IN_PROGRESS", messages: ["About zebras"], ...given, createdAt });
  await insert(service.sql, [row]);
  return row.conversationId;
}

describe("a conversation past its owner's retention", () => {
  test("is gone from every endpoint once the change has returned: list, total, search, look-up and turn", async () => {
    const agent = await createAgent(service);
    const { ownerId } = agent;
    const stranger = newOwner();
    const sessionId = await chatFrom(agent, 30 * DAY_MS);
    const young = await chatFrom(agent, DAY_MS);
    const page = { number: 1, size: 10 };
    const totals = async () => [
      await total(ownerId),
      await total(ownerId, { search: "zebra" }),
      await total(ownerId, { conversationId: sessionId }),
      await total(ownerId, { agentId: agent.agentId, to: service.clock.now() }),
      await total(ownerId, { timeOfDay: { fromMinute: 0, toMinute: 1439 } }),
      (await service.chat.listChatSessions({ ownerId, agentId: "", page })).total,
    ];
    expect(await totals()).toEqual([2, 2, 1, 2, 2, 2]);
    expect((await say(service, agent, "Hi", sessionId)).response).toBe("Hello there.");

    await keep(ownerId, 29);
    expect(await totals()).toEqual([1, 1, 0, 1, 1, 1]);
    const key = { ownerId, conversationId: sessionId };
    const refusals = await Promise.all([
      failure(service.chat.getConversation(key)),
      failure(service.chat.getChatSession({ ownerId, sessionId })),
      failure(say(service, agent, "Hi", sessionId)),
      // Another owner does not learn that it existed.
      failure(service.chat.getConversation({ ...key, ownerId: stranger })),
    ]);
    expect(refusals.map(({ kind, detail }) => [kind, detail])).toEqual([
      ["not_found", "Conversation not found"],
      ["not_found", "Session not found"],
      ["not_found", "Session not found"],
      ["not_found", "Conversation not found"],
    ]);
    expect((await service.chat.getConversation({ ownerId, conversationId: young })).conversation).toBeDefined();
  });

  test("expires to the millisecond, by default 90 days after its start", async () => {
    const agent = await createAgent(service);
    await chatFrom(agent, 90 * DAY_MS);
    await chatFrom(agent, 90 * DAY_MS + 1);
    expect(await total(agent.ownerId)).toBe(1);
    await keep(agent.ownerId, 91);
    expect(await total(agent.ownerId)).toBe(2);
    await keep(agent.ownerId, undefined);
    expect(await total(agent.ownerId)).toBe(1);
    expect(await total(newOwner())).toBe(0);
  });

  test("gets no idempotent replay either", async () => {
    const agent = await createAgent(service);
    const sessionId = await chatFrom(agent, 2 * DAY_MS);
    const keyed = turn(agent, "Again", { sessionId, idempotency: { key: "k", fingerprint: Buffer.alloc(32) } });
    expect((await service.chat.completeTurn({ turn: keyed })).replayed).toBe(false);
    expect((await service.chat.completeTurn({ turn: keyed })).replayed).toBe(true);
    await keep(agent.ownerId, 1);
    expect(await failure(service.chat.completeTurn({ turn: keyed }))).toMatchObject({
      kind: "not_found",
      detail: "Session not found",
    });
  });

  test("lets a turn that is already running end", async () => {
    const agent = await createAgent(service);
    const sessionId = await chatFrom(agent, DAY_MS);
    await keep(agent.ownerId, 1);
    expect((await say(service, agent, "In time", sessionId)).response).toBe("Hello there.");
    expect(await transcript(service, agent, sessionId)).toHaveLength(3);
    service.clock.advance(1);
    expect(await failure(say(service, agent, "Late", sessionId))).toMatchObject({ kind: "not_found" });
  });
});

test("the newer of two changes wins, in whatever order they arrive", async () => {
  const agent = await createAgent(service);
  await chatFrom(agent, 50 * DAY_MS);
  const { ownerId } = agent;
  await service.chat.setOwnerSettings({ ownerId, retentionDays: 40, revision: 9_000_002 });
  await service.chat.setOwnerSettings({ ownerId, retentionDays: 60, revision: 9_000_001 });
  expect(await total(ownerId)).toBe(0);
});

test.each([0, -1, 3651])("%d days are refused", async (retentionDays) => {
  expect(await failure(keep(newOwner(), retentionDays))).toMatchObject({
    kind: "invalid",
    detail: "retention_days must be from 1 to 3650",
  });
});
