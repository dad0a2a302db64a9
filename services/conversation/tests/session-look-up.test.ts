import { afterAll, expect, test } from "bun:test";
import type { Sql } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import { newOwner } from "@parley/testkit/owners";
import postgres from "postgres";
import { appendMessages } from "../src/store/calls.ts";
import type { TypeName } from "../src/store/conversations.ts";
import type { SessionKey } from "../src/store/session-key.ts";
import { takeTurn, takeTurns } from "../src/store/turns/take-turns.ts";
import { startTestLists } from "./lists-kit.ts";

const MANY = 5_000;
const NOW = new Date("2026-02-03T12:00:00Z");

const lists = await startTestLists();
const connection = { session_replication_role: "replica", search_path: "conversation" };
/** Without the triggers, which take most of the time to insert a row and are not what is tested. */
const seeding = postgres(lists.adminUrl, { max: 1, connection });
afterAll(async () => {
  await seeding.end();
  await lists.stop();
});

/** Many conversations of one owner and agent that have not ended. @returns one of them */
async function openMany(type: TypeName): Promise<SessionKey> {
  const key = { ownerId: newOwner(), conversationId: newUuid() };
  await seeding`
    insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
    select ${key.ownerId}, case when number = 1 then ${key.conversationId}::uuid else gen_random_uuid() end, 'cnv_' || number,
      'agt_any', ${type}, 'IN_PROGRESS', ${NOW}, ${NOW}, ${NOW}
    from generate_series(1, ${MANY}) as number`;
  return key;
}

/** How often the connection has read from an index, in this transaction and perhaps in those of the last second. */
async function looksInto(tx: Sql, index: string): Promise<number> {
  const [row] = await tx<{ looks: number }[]>`
    select pg_stat_get_xact_numscans(${index}::text::regclass)::integer as looks`;
  return row?.looks ?? 0;
}

// Without statistics, the planner knows the size of the table but not its contents.
test("a turn finds its session by its key, not among all that are open", async () => {
  const key = await openMany("CHAT");
  const given = {
    type: "CHAT" as const,
    agentId: "agt_any",
    agentVersion: 1,
    draftId: null,
    message: "Hi",
    name: "Hi",
    metadata: {},
    variables: {},
    now: NOW,
    until: NOW,
  };
  await lists.db.begin(async (tx) => {
    const before = await looksInto(tx, "conversations_pkey");
    expect(await takeTurn(tx, { ...key, ...given, turnId: newUuid() }, 1_000)).toMatchObject({ seq: 1, earlier: [] });
    expect((await looksInto(tx, "conversations_pkey")) - before).toBe(1);
  });
});

test("turns taken in one statement find their sessions by key, once to lock and once to write each", async () => {
  const key = await openMany("CHAT");
  const other = await openMany("CHAT");
  const given = {
    type: "CHAT" as const,
    agentId: "agt_any",
    agentVersion: 1,
    draftId: null,
    message: "Hi",
    name: "Hi",
    metadata: {},
    variables: {},
    now: NOW,
    until: NOW,
  };
  const turns = [key, other].map((each) => ({ ...each, ...given, turnId: newUuid() }));
  await lists.db.begin(async (tx) => {
    const before = await looksInto(tx, "conversations_pkey");
    expect((await takeTurns(tx, turns, 1_000)).size).toBe(2);
    expect((await looksInto(tx, "conversations_pkey")) - before).toBe(4);
  });
});

test("a runtime's report finds its call by key, not among all that are open", async () => {
  const key = await openMany("TELEPHONY");
  await lists.db.begin(async (tx) => {
    const before = await looksInto(tx, "conversations_pkey");
    const message = {
      seq: 1,
      role: "user" as const,
      content: "Hi",
      createdAt: NOW,
      startedAt: null,
      latency: null,
      byOperator: false,
    };
    expect(await appendMessages(tx, key, 0, [message], NOW)).toBe(true);
    expect((await looksInto(tx, "conversations_pkey")) - before).toBe(1);
  });
});
