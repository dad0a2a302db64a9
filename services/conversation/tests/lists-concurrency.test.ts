import { afterAll, expect, test } from "bun:test";
import type { Sql } from "@parley/shared/db/database";
import { foldChanges } from "@parley/shared/folds/fold";
import { newId, newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { COUNTS } from "../src/store/conversation-counts.ts";
import { closeSilentChats, insertGreetedSession } from "../src/store/conversations.ts";
import { type ConversationFilter, matching, NO_FILTER } from "../src/store/lists/conversation-filter.ts";
import { findCountedPage } from "../src/store/lists/list-page.ts";
import { insertSessionWithTurn, takeTurn } from "../src/store/turns/take-turns.ts";
import { AGENTS, STATUSES, startTestLists } from "./lists-kit.ts";

const START = Date.parse("2026-02-03T23:58:00Z");
const PAGE = { number: 1, size: 10 };

const lists = await startTestLists();
afterAll(() => lists.stop());

function filters(ownerId: string): ConversationFilter[] {
  const all = { ...NO_FILTER, ownerId };
  return [
    all,
    ...STATUSES.map((status) => ({ ...all, status })),
    ...AGENTS.flatMap((agentId) => STATUSES.map((status) => ({ ...all, agentId, status }))),
    { ...all, type: "CHAT", from: new Date(START + 90_000), to: new Date(START + 200_500) },
    { ...all, timeOfDay: { from: 1439, to: 0 } },
    { ...all, status: "DISCONNECTED", timeOfDay: { from: 0, to: 1 } },
  ];
}

async function countRows(sql: Sql, filter: ConversationFilter): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::integer from conversations where ${matching(sql, filter)}`;
  return row?.count ?? 0;
}

/** Begins, continues and ends like a chat, with each step at a time of its own. */
async function live(ownerId: string, agentId: string, step: number): Promise<void> {
  const now = new Date(START + step * 1_700);
  const conversationId = newUuid();
  const opened = {
    type: "CHAT" as const,
    ownerId,
    conversationId,
    id: newId("cnv"),
    agentId,
    agentVersion: 1,
    draftId: null,
    metadata: {},
    variables: {},
    now,
  };
  if (step % 2 === 0) await insertGreetedSession(lists.db, { ...opened, greeting: "Hello" });
  const turn = { ...opened, turnId: newUuid(), message: "Hi", name: "Hi", until: new Date(now.getTime() + 1_000) };
  if (step % 2 === 1) await insertSessionWithTurn(lists.db, turn);
  else if (step % 4 === 0) await takeTurn(lists.db, turn, 0);
  if (step % 3 === 0) await closeSilentChats(lists.db, now, new Date(now.getTime() + 5_000), 3);
  if (step % 11 === 0) await lists.db`delete from conversations where conversation_id = ${conversationId}`;
}

test("totals are exact at every moment while conversations start, change, end and are deleted, and counts are folded", async () => {
  const ownerId = newOwner();
  let isLive = true;
  let compared = 0;
  const conversations = AGENTS.flatMap((agentId) => [0, 1].map((worker) => ({ agentId, worker }))).map(
    async ({ agentId, worker }) => {
      for (let step = worker; step < 120; step += 2) await live(ownerId, agentId, step);
    },
  );
  const fold = async () => {
    while (isLive) await foldChanges(lists.db, ownerId, COUNTS);
  };
  const compare = async () => {
    while (isLive || compared === 0) {
      // Both ways of counting read one snapshot.
      await lists.db.begin("isolation level repeatable read", async (tx) => {
        for (const filter of filters(ownerId)) {
          const { total } = await findCountedPage(tx, filter, PAGE);
          expect({ filter, total }).toEqual({ filter, total: await countRows(tx, filter) });
        }
      });
      compared += 1;
    }
  };
  const others = [fold(), fold(), compare()];
  await Promise.all(conversations);
  isLive = false;
  await Promise.all(others);
  for (const filter of filters(ownerId)) {
    const { total, conversationIds } = await findCountedPage(lists.db, filter, PAGE);
    expect({ filter, total }).toEqual({ filter, total: await countRows(lists.db, filter) });
    expect(conversationIds).toHaveLength(Math.min(total, PAGE.size));
  }
});

test("the service folds an owner's many changes by itself and keeps only the counts", async () => {
  const ownerId = newOwner();
  await lists.db`
    insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
    select ${ownerId}, gen_random_uuid(), 'cnv_' || n, 'agt_a', 'CHAT', 'COMPLETED', now(), now(), now()
    from generate_series(1, 600) as n`;
  // The service's clock stands still, so the test makes the job due.
  await lists.db`update jobs set due_at = '2025-01-01' where owner_id = ${ownerId}`;
  await eventually(async () => {
    const [row] = await lists.db<{ waiting: number }[]>`
      select count(*)::integer as waiting from conversation_changes where owner_id = ${ownerId}`;
    expect(row?.waiting).toBe(0);
  });
  expect((await findCountedPage(lists.db, { ...NO_FILTER, ownerId }, PAGE)).total).toBe(600);
});
