import { afterAll, expect, test } from "bun:test";
import { newId, newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { insertGreetedSession } from "../src/store/conversations.ts";
import { AGENTS, request, startTestLists } from "./lists-kit.ts";

const lists = await startTestLists();
afterAll(() => lists.stop());

async function store(ownerId: string): Promise<{ ownerId: string; conversationId: string }> {
  const conversationId = newUuid();
  const session = { ownerId, conversationId, id: newId("cnv"), agentId: AGENTS[0], metadata: {}, variables: {} };
  await insertGreetedSession(lists.db, {
    ...session,
    agentVersion: 1,
    draftId: null,
    greeting: "Hi.",
    now: lists.clock.now(),
  });
  return { ownerId, conversationId };
}

/** Makes every read of messages wait until the returned function is called. */
async function lockMessages(): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const unlocked = Promise.withResolvers<void>();
  const transaction = lists.db.begin(async (tx) => {
    await tx`lock table messages in access exclusive mode`;
    locked.resolve();
    await unlocked.promise;
  });
  await locked.promise;
  return async () => {
    unlocked.resolve();
    await transaction;
  };
}

/** Reads of messages that wait for the table. The service's sweeps may wait for it, too. */
async function waiting(): Promise<number> {
  const [row] = await lists.db<[{ count: number }]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%conversation_id, seq, role, content, created_at, started_at, latency%'`;
  return row.count;
}

test.each([
  ["conversations", ({ ownerId, conversationId }) => lists.lists.getConversation({ ownerId, conversationId }), 2],
  ["lists", ({ ownerId }) => lists.lists.listConversations(request(ownerId, {})), 2],
] as [string, (key: { ownerId: string; conversationId: string }) => Promise<unknown>, number][])(
  "an owner's many concurrent reads of %s run a few at a time and do not delay another owner's read",
  async (_, read, atOnce) => {
    const [greedy, modest] = [await store(newOwner()), await store(newOwner())];
    const reads: Promise<unknown>[] = [];
    const unlock = await lockMessages();
    for (let n = 0; n < 30; n++) reads.push(read(greedy));
    await eventually(async () => expect(await waiting()).toBe(atOnce));
    reads.push(read(modest));
    await eventually(async () => expect(await waiting()).toBe(atOnce + 1));
    await unlock();
    await Promise.all(reads);
  },
);
